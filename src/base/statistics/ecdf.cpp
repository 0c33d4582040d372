#include "base/statistics/ecdf.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace goban::base::statistics {

Ecdf::Ecdf(std::span<const double> values)
    : Ecdf(values, std::vector<double>(values.size(), 1.0)) {}

Ecdf::Ecdf(std::span<const double> values, std::span<const double> weights) {
  GOBAN_CHECK(values.size() == weights.size());
  std::vector<std::pair<double, double>> sorted;
  sorted.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    GOBAN_CHECK(weights[i] >= 0);
    if (weights[i] > 0) sorted.emplace_back(values[i], weights[i]);
  }
  std::ranges::sort(sorted);
  double below = 0;
  for (const auto& [value, weight] : sorted) {
    below += weight;
    if (steps_.empty() || steps_.back().value != value) steps_.push_back({value, 0});
    steps_.back().share = below;
  }
  for (Step& step : steps_) step.share /= below;
}

double Ecdf::share_at_most(double x) const {
  const auto above = std::ranges::upper_bound(steps_, x, {}, &Step::value);
  return above == steps_.begin() ? 0 : std::prev(above)->share;
}

}  // namespace goban::base::statistics
