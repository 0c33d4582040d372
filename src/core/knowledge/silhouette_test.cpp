#include "core/knowledge/silhouette.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace goban::core::knowledge {
namespace {

// The definition, over all pairs.
double by_definition(const std::vector<double>& values, const std::vector<uint32_t>& cluster_of,
                     uint32_t num_clusters) {
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    std::vector<double> sum(num_clusters), count(num_clusters);
    for (size_t j = 0; j < values.size(); ++j) {
      sum[cluster_of[j]] += std::abs(values[i] - values[j]);
      count[cluster_of[j]] += 1;
    }
    double next = std::numeric_limits<double>::infinity();
    for (uint32_t c = 0; c < num_clusters; ++c) {
      if (c != cluster_of[i] && count[c] > 0) next = std::min(next, sum[c] / count[c]);
    }
    if (std::isinf(next)) return 0;
    const uint32_t own = cluster_of[i];
    if (count[own] < 2) continue;
    const double inside = sum[own] / (count[own] - 1);
    if (std::max(inside, next) > 0) total += (next - inside) / std::max(inside, next);
  }
  return total / static_cast<double>(values.size());
}

TEST(Silhouette, KnownValues) {
  // Computed by hand: a = 1, b = 9.5 and so on.
  const std::vector<double> values = {0, 1, 9, 10};
  const std::vector<uint32_t> cluster_of = {0, 0, 1, 1};
  EXPECT_NEAR(mean_silhouette(values, cluster_of), (8.5 / 9.5 + 7.5 / 8.5) / 2, 1e-12);
}

TEST(Silhouette, LonersCountNothing) {
  const std::vector<double> values = {0, 1, 100};
  EXPECT_NEAR(mean_silhouette(values, std::vector<uint32_t>{0, 0, 1}), (0.99 + 98.0 / 99) / 3,
              1e-12);
  EXPECT_EQ(mean_silhouette(values, std::vector<uint32_t>{0, 1, 2}), 0);
}

TEST(Silhouette, OneClusterOrNoValuesGiveZero) {
  EXPECT_EQ(mean_silhouette({}, {}), 0);
  const std::vector<double> values = {1, 2, 3};
  EXPECT_EQ(mean_silhouette(values, std::vector<uint32_t>{2, 2, 2}), 0);
  const std::vector<double> equal = {1, 1, 1, 1};
  EXPECT_EQ(mean_silhouette(equal, std::vector<uint32_t>{0, 0, 1, 1}), 0);
}

RC_GTEST_PROP(Silhouette, EqualsItsDefinition, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 40);
  const auto num_clusters = *rc::gen::inRange<uint32_t>(1, 6);
  std::vector<double> values;
  std::vector<uint32_t> cluster_of;
  for (size_t i = 0; i < size; ++i) {
    values.push_back(*rc::gen::inRange(0, 64) / 16.0);
    cluster_of.push_back(*rc::gen::inRange<uint32_t>(0, num_clusters));
  }
  const double fast = mean_silhouette(values, cluster_of);
  RC_ASSERT(std::abs(fast - by_definition(values, cluster_of, num_clusters)) < 1e-9);
}

}  // namespace
}  // namespace goban::core::knowledge
