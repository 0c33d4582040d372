#include "core/knowledge/silhouette.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

/// State of a cluster during the sweep over the ascending values.
struct Cluster {
  double count = 0;
  double sum = 0;  ///< of all values
  double count_below = 0;
  double sum_below = 0;
  /// Sum of the distances from x to all members.
  [[nodiscard]] double distances(double x) const {
    const double left = x * count_below - sum_below;
    const double right = (sum - sum_below) - x * (count - count_below);
    return std::max(0.0, left + right);
  }
};

}  // namespace

double mean_silhouette(std::span<const double> values, std::span<const uint32_t> cluster_of) {
  GOBAN_CHECK(values.size() == cluster_of.size());
  if (values.empty()) return 0;
  std::vector<Cluster> clusters(size_t{std::ranges::max(cluster_of)} + 1);
  // Subtracting the mean preserves precision in the sums.
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    clusters[cluster_of[i]].count += 1;
    clusters[cluster_of[i]].sum += values[i] - mean;
  }
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(values[i], i); });
  double total = 0;
  for (const uint32_t i : order) {
    const double x = values[i] - mean;
    Cluster& own = clusters[cluster_of[i]];
    double next = std::numeric_limits<double>::infinity();
    for (const Cluster& other : clusters) {
      if (&other == &own || other.count == 0) continue;
      next = std::min(next, other.distances(x) / other.count);
    }
    if (next == std::numeric_limits<double>::infinity()) return 0;
    if (own.count > 1) {
      const double inside = own.distances(x) / (own.count - 1);
      const double larger = std::max(inside, next);
      if (larger > 0) total += (next - inside) / larger;
    }
    own.count_below += 1;
    own.sum_below += x;
  }
  return total / static_cast<double>(values.size());
}

}  // namespace goban::core::knowledge
