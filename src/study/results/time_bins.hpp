// Averages over time in a bounded number of bins, independent of the length of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace goban::study::results {

using base::TimeNs;

/// Rows of values over time. Bins are one second wide at first. When a value lies after the last
/// bin, bins are merged to the next customary width (10 s, 30 s, 1 min, ... 1 h, ... 1 d, ...),
/// repeatedly if needed. Each width divides the next, so the bins of two runs can be brought to one
/// width exactly. Memory: rows x bins_max doubles.
class TimeBins {
 public:
  /// `bins_max` >= 1. Time before `origin_ns` is ignored.
  TimeBins(size_t rows, size_t bins_max, TimeNs origin_ns)
      : origin_ns_(origin_ns), bins_max_(bins_max), sums_(rows * bins_max), rows_(rows) {}

  /// Adds that the row had this value from `from` to `to`. Cost: the bins between them.
  void add(size_t row, TimeNs from, TimeNs to, double value);
  /// Merges bins until they have at least this width.
  void widen(TimeNs width_ns);

  [[nodiscard]] TimeNs width_ns() const { return width_ns_; }
  [[nodiscard]] size_t rows() const { return rows_; }
  /// Number of bins that start before `end_ns`.
  [[nodiscard]] size_t bins_until(TimeNs end_ns) const;
  /// Time average of the row over the bin, excluding the part after `end_ns`.
  [[nodiscard]] double mean(size_t row, size_t bin, TimeNs end_ns) const;

 private:
  void merge();

  TimeNs origin_ns_;
  TimeNs width_ns_ = base::kSecond;
  size_t bins_max_;
  std::vector<double> sums_;  ///< value x seconds, row by row
  size_t rows_;
};

}  // namespace goban::study::results
