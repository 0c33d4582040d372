// The scale of run times: quarter octaves from 1 s to 194 days, and a distribution over its bins.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "base/bytes.hpp"

namespace goban::core::knowledge {

inline constexpr size_t kDurationBins = 96;

/// Where a run time lies on the scale: 4 log2(seconds), at least 0 and less than kDurationBins. The
/// integral part is the bin. Same bits on every machine.
[[nodiscard]] double scale_position(double seconds);
/// The run time at a position, in seconds.
[[nodiscard]] double seconds_at(double position);

/// Probability by bin; sums to 1.
using DurationDistribution = std::array<double, kDurationBins>;

/// Position below which the share `level` of the distribution lies; linear inside a bin.
[[nodiscard]] double position_of_level(const DurationDistribution& distribution, double level);
/// Share of the distribution below a position; the inverse of position_of_level().
[[nodiscard]] double level_of_position(const DurationDistribution& distribution, double position);

/// Numbers of which many are zero, as bytes: a bit for each, then those that are not.
void put_sparse(std::string& out, std::span<const float> numbers);
/// The inverse; false if a number is missing, negative or not finite.
[[nodiscard]] bool get_sparse(base::ByteReader& in, std::span<float> numbers);

/// Counts of run times by bin, of which older ones weigh less.
class DurationCounts {
 public:
  /// Multiplies all counts by `kept`, and adds one run. It is spread over the two bins whose
  /// centres enclose `position`.
  void learn(double position, double kept);
  /// Mixes these counts into `distribution`, which weighs as much as `prior` runs.
  void mix_into(DurationDistribution& distribution, double prior) const;
  /// Number of runs, discounted.
  [[nodiscard]] double runs() const { return runs_; }

  void write(std::string& out) const;
  [[nodiscard]] bool read(base::ByteReader& in);

 private:
  std::array<float, kDurationBins> counts_{};
  double runs_ = 0;
};

}  // namespace goban::core::knowledge
