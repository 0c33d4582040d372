#include "base/statistics/concentration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.hpp"
#include "base/statistics/summary.hpp"

namespace goban::base::statistics {
namespace {

/// The amounts in descending order; empty if the total is 0.
std::vector<double> falling(std::span<const double> amounts) {
  std::vector<double> sorted(amounts.begin(), amounts.end());
  std::ranges::sort(sorted, std::greater{});
  GOBAN_CHECK(sorted.empty() || sorted.back() >= 0);
  if (!sorted.empty() && sorted.front() == 0) sorted.clear();
  return sorted;
}

}  // namespace

std::optional<double> gini(std::span<const double> amounts) {
  const std::vector<double> sorted = falling(amounts);
  if (sorted.empty()) return std::nullopt;
  const auto n = static_cast<double>(sorted.size());
  std::vector<double> weighted(sorted.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    weighted[i] = (n - 1 - 2 * static_cast<double>(i)) * sorted[i];
  }
  return std::max(0.0, sum(weighted) / (n * sum(sorted)));
}

std::optional<double> top_share(std::span<const double> amounts, double share) {
  GOBAN_CHECK(share >= 0 && share <= 1);
  const std::vector<double> sorted = falling(amounts);
  if (sorted.empty()) return std::nullopt;
  // 0.06 * 50 is 3.0000000000000004 in double precision, but means three holders.
  const double wanted = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  const auto holders = static_cast<size_t>(std::max(0.0, wanted));
  return sum(std::span(sorted).first(holders)) / sum(sorted);
}

std::optional<TopHolders> holders_of(std::span<const double> amounts, double share) {
  GOBAN_CHECK(share >= 0 && share <= 1);
  const std::vector<double> sorted = falling(amounts);
  if (sorted.empty()) return std::nullopt;
  const double total = sum(sorted);
  const double wanted = share * total * (1 - 1e-12);
  TopHolders result{0, sorted.size(), 0};
  double owned = 0;
  while (result.holders < sorted.size() && owned < wanted) owned += sorted[result.holders++];
  result.owned = owned / total;
  return result;
}

std::vector<LorenzPoint> lorenz(std::span<const double> amounts) {
  std::vector<double> sorted = falling(amounts);
  if (sorted.empty()) return {};
  std::ranges::reverse(sorted);
  const double total = sum(sorted);
  std::vector<LorenzPoint> points{{0, 0}};
  double owned = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    owned += sorted[i];
    points.push_back(
        {static_cast<double>(i + 1) / static_cast<double>(sorted.size()), owned / total});
  }
  points.back().owned = 1;
  return points;
}

}  // namespace goban::base::statistics
