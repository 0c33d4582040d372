// Empirical cumulative distribution: the share of a sample at or below x.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace goban::base::statistics {

class Ecdf {
 public:
  /// A step of the curve: `share` of the sample is at most `value`. The last share is exactly 1.
  struct Step {
    double value = 0;
    double share = 0;
  };

  /// Each value counts once.
  explicit Ecdf(std::span<const double> values);
  /// Each value counts with its weight >= 0, such as node-hours; values of weight 0 are ignored.
  Ecdf(std::span<const double> values, std::span<const double> weights);

  /// One step per distinct value, ascending; empty for an empty sample.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  /// 0 below the smallest value and for an empty sample.
  [[nodiscard]] double share_at_most(double x) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace goban::base::statistics
