#include "base/statistics/summary.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace goban::base::statistics {
namespace {

class CompensatedSum {
 public:
  void add(double value) {
    const double total = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace

double sum(std::span<const double> values) {
  CompensatedSum total;
  for (const double value : values) total.add(value);
  return total.value();
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return sum(values) / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values, SigmaRule rule) {
  const auto center = mean(values);
  if (!center) return std::nullopt;
  if (values.size() == 1) return 0;
  CompensatedSum squares;
  for (const double value : values) squares.add((value - *center) * (value - *center));
  const size_t divisor = rule == SigmaRule::Sample ? values.size() - 1 : values.size();
  return std::sqrt(squares.value() / static_cast<double>(divisor));
}

std::optional<double> quantile(std::span<const double> sorted, double share, QuantileRule rule) {
  GOBAN_CHECK(share >= 0 && share <= 1);
  if (sorted.empty()) return std::nullopt;
  const auto last = static_cast<double>(sorted.size() - 1);
  if (rule == QuantileRule::NearestRank) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1;
    return sorted[static_cast<size_t>(std::clamp(rank, 0.0, last))];
  }
  const double at = share * last;
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Summary> summarize(std::vector<double> values, SigmaRule rule) {
  if (values.empty()) return std::nullopt;
  Summary result;
  result.count = values.size();
  result.mean = *mean(values);
  result.sd = *standard_deviation(values, rule);
  std::ranges::sort(values);
  result.median = *quantile(values, 0.5);
  result.min = values.front();
  result.max = values.back();
  return result;
}

}  // namespace goban::base::statistics
