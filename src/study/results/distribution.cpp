#include "study/results/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goban::study::results {

CumulativeShares cumulative_shares(std::vector<std::vector<double>> runs, size_t points) {
  double least = std::numeric_limits<double>::infinity();
  double most = 1;
  for (std::vector<double>& values : runs) {
    std::ranges::sort(values);
    if (values.empty()) continue;
    least = std::min(least, values.front());
    most = std::max(most, values.back());
  }
  least = std::clamp(least, 1.0, most);
  CumulativeShares result;
  result.shares.resize(runs.size());
  for (size_t i = 0; i < points; ++i) {
    const double part = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 1;
    // The last point is the maximum itself, so that every curve reaches 1.
    const bool last = i + 1 == points;
    const auto at = static_cast<float>(last ? most : least * std::pow(most / least, part));
    result.at.push_back(at);
    for (size_t run = 0; run < runs.size(); ++run) {
      const std::vector<double>& values = runs[run];
      const auto below =
          last ? std::ssize(values) : std::ranges::upper_bound(values, double{at}) - values.begin();
      result.shares[run].push_back(
          values.empty() ? 0 : static_cast<float>(below) / static_cast<float>(values.size()));
    }
  }
  return result;
}

}  // namespace goban::study::results
