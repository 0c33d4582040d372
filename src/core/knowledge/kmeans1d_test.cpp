#include "core/knowledge/kmeans1d.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;

// Inertia of an assignment, with the means of its clusters as centroids.
double inertia_of(const std::vector<double>& values, const std::vector<uint32_t>& cluster_of,
                  size_t num_clusters) {
  std::vector<double> sum(num_clusters), count(num_clusters);
  for (size_t i = 0; i < values.size(); ++i) {
    sum[cluster_of[i]] += values[i];
    count[cluster_of[i]] += 1;
  }
  double inertia = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - sum[cluster_of[i]] / count[cluster_of[i]];
    inertia += off * off;
  }
  return inertia;
}

// Minimum inertia over all partitions of the sorted values, by enumeration.
double least_inertia(std::vector<double> values, size_t num_clusters) {
  std::ranges::sort(values);
  const size_t cuts = values.size() - 1;
  double best = std::numeric_limits<double>::infinity();
  for (uint32_t mask = 0; mask < (1U << cuts); ++mask) {
    if (static_cast<size_t>(std::popcount(mask)) >= num_clusters) continue;
    std::vector<uint32_t> cluster_of = {0};
    for (size_t i = 0; i < cuts; ++i) cluster_of.push_back(cluster_of.back() + ((mask >> i) & 1U));
    best = std::min(best, inertia_of(values, cluster_of, num_clusters));
  }
  return best;
}

TEST(Kmeans1d, SplitsWhatIsApart) {
  const std::vector<double> values = {10, 1, 2, 11, 30, 1.5};
  const Clusters1d clusters = kmeans1d(values, 3);
  EXPECT_THAT(clusters.centroids, ElementsAre(1.5, 10.5, 30));
  EXPECT_THAT(clusters.cluster_of, ElementsAre(1, 0, 0, 1, 2, 0));
  EXPECT_DOUBLE_EQ(clusters.inertia, 1.0);
}

TEST(Kmeans1d, FewerDistinctValuesThanClusters) {
  const std::vector<double> values = {2, 1, 2, 2, 1};
  const Clusters1d clusters = kmeans1d(values, 9);
  EXPECT_THAT(clusters.centroids, ElementsAre(1, 2));
  EXPECT_THAT(clusters.cluster_of, ElementsAre(1, 0, 1, 1, 0));
  EXPECT_EQ(clusters.inertia, 0);
  const std::vector<double> equal(5, 0.1);
  EXPECT_THAT(kmeans1d(equal, 3).centroids, ElementsAre(0.1));
  EXPECT_TRUE(kmeans1d({}, 3).centroids.empty());
  EXPECT_TRUE(kmeans1d_up_to({}, 3).empty());
}

TEST(Kmeans1d, TiesTakeTheLowestBorder) {
  const std::vector<double> values = {0, 1, 2};
  EXPECT_THAT(kmeans1d(values, 2).cluster_of, ElementsAre(0, 1, 1));
}

TEST(Kmeans1d, NeighbouringDoublesStayApart) {
  const double next = std::nextafter(1.0, 2.0);
  const std::vector<double> values = {1.0, next, 1.0, 1e6};
  EXPECT_THAT(kmeans1d(values, 3).centroids, ElementsAre(1.0, next, 1e6));
}

std::vector<double> drawn_values(size_t count_min) {
  const auto size = *rc::gen::inRange<size_t>(count_min, 12);
  const auto grid = *rc::gen::container<std::vector<int>>(size, rc::gen::inRange(-40, 41));
  std::vector<double> values;
  for (const int v : grid) values.push_back(v / 8.0);
  return values;
}

RC_GTEST_PROP(Kmeans1d, IsTheOptimum, ()) {
  const std::vector<double> values = drawn_values(1);
  const auto k = *rc::gen::inRange<size_t>(1, 6);
  const Clusters1d clusters = kmeans1d(values, k);
  RC_ASSERT(std::abs(clusters.inertia - least_inertia(values, k)) < 1e-9);
}

RC_GTEST_PROP(Kmeans1d, NoAssignmentIsBetter, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 200);
  const auto k = *rc::gen::inRange<size_t>(1, 20);
  std::vector<double> values;
  std::vector<uint32_t> assignment;
  for (size_t i = 0; i < size; ++i) {
    values.push_back(*rc::gen::inRange(0, 1'000'000) / 1e6);
    assignment.push_back(*rc::gen::inRange<uint32_t>(0, static_cast<uint32_t>(k)));
  }
  RC_ASSERT(kmeans1d(values, k).inertia <= inertia_of(values, assignment, k) + 1e-9);
}

RC_GTEST_PROP(Kmeans1d, IsConsistent, ()) {
  const std::vector<double> values = drawn_values(1);
  const std::vector<Clusters1d> all = kmeans1d_up_to(values, 12);
  for (size_t k = 1; k <= all.size(); ++k) {
    const Clusters1d& clusters = all[k - 1];
    RC_ASSERT(clusters.centroids.size() == k);
    RC_ASSERT(std::ranges::is_sorted(clusters.centroids, std::less_equal{}));
    RC_ASSERT(clusters.cluster_of == kmeans1d(values, k).cluster_of);
    if (k > 1) RC_ASSERT(clusters.inertia <= all[k - 2].inertia + 1e-12);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = 0; j < values.size(); ++j) {
        if (values[i] <= values[j]) {
          RC_ASSERT(clusters.cluster_of[i] <= clusters.cluster_of[j]);
        }
      }
    }
  }
  RC_ASSERT(all.back().inertia == 0.0);
}

}  // namespace
}  // namespace goban::core::knowledge
