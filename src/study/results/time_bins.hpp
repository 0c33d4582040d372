// Averages over time in a bounded number of bins, however long a run gets.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace goban::study::results {

using base::TimeNs;

/// Rows of values over time. Bins begin one second wide; when a value lies behind the last bin,
/// they are merged to the next width that people think in (10 s, 30 s, 1 min, ... 1 h, ... 1 d,
/// ...), as often as needed. Each width divides the next, so the bins of two runs can be brought to
/// one width exactly. Memory: rows x bins_max doubles.
class TimeBins {
 public:
  /// `bins_max` >= 1. Time before `origin_ns` is left out.
  TimeBins(size_t rows, size_t bins_max, TimeNs origin_ns)
      : origin_ns_(origin_ns), bins_max_(bins_max), sums_(rows * bins_max), rows_(rows) {}

  /// The row had this value from `from` to `to`. Cost: the bins between them.
  void add(size_t row, TimeNs from, TimeNs to, double value);
  /// Merges bins until they are at least so wide.
  void widen(TimeNs width_ns);

  [[nodiscard]] TimeNs width_ns() const { return width_ns_; }
  [[nodiscard]] size_t rows() const { return rows_; }
  /// Bins that begin before `end_ns`.
  [[nodiscard]] size_t bins_until(TimeNs end_ns) const;
  /// Time average of the row over the bin, of which the part after `end_ns` does not count.
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
