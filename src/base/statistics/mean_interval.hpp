// The mean of few values with its confidence interval, by Student's t distribution.
#pragma once

#include <optional>
#include <span>

namespace goban::base::statistics {

struct MeanInterval {
  double mean = 0;
  double half_width = 0;  ///< of the 95 % confidence interval; infinite for a single value
};

/// nullopt for an empty sample.
[[nodiscard]] std::optional<MeanInterval> mean_interval_95(std::span<const double> values);

}  // namespace goban::base::statistics
