#include "base/statistics/mean_interval.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "base/statistics/summary.hpp"

namespace goban::base::statistics {
namespace {

/// The 97.5 % quantile of Student's t distribution, rounded up to 3 digits after the point.
double t_quantile(size_t freedom) {
  constexpr std::array kQuantiles = {12.707, 4.303, 3.183, 2.777, 2.571, 2.447, 2.365, 2.307,
                                     2.263,  2.229, 2.201, 2.179, 2.161, 2.145, 2.132, 2.120,
                                     2.110,  2.101, 2.094, 2.086, 2.080, 2.074, 2.069, 2.064,
                                     2.060,  2.056, 2.052, 2.049, 2.046, 2.043};
  constexpr double kNormal = 1.96, kSlope = 2.5;  // 2.043 at 30, from above
  if (freedom <= kQuantiles.size()) return kQuantiles[freedom - 1];
  return kNormal + kSlope / static_cast<double>(freedom);
}

}  // namespace

std::optional<MeanInterval> mean_interval_95(std::span<const double> values) {
  const auto middle = mean(values);
  if (!middle) return std::nullopt;
  if (values.size() == 1) return MeanInterval{*middle, std::numeric_limits<double>::infinity()};
  const double sigma = standard_deviation(values, SigmaRule::Sample).value_or(0);
  return MeanInterval{*middle, t_quantile(values.size() - 1) * sigma /
                                   std::sqrt(static_cast<double>(values.size()))};
}

}  // namespace goban::base::statistics
