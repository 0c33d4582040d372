#include "core/knowledge/kmeans.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <vector>

#include "core/knowledge/kmeans1d.hpp"

namespace goban::core::knowledge {
namespace {

using testing::UnorderedElementsAre;

TEST(Kmeans, FindsGroups) {
  const std::vector<Point2> points = {{0, 0}, {0, 2}, {50, 0}, {50, 2}, {0, 90}, {2, 90}};
  const Clusters2 clusters = kmeans(points, {});
  EXPECT_THAT(clusters.centroids, UnorderedElementsAre(Point2{0, 1}, Point2{50, 1}, Point2{1, 90}));
  EXPECT_EQ(clusters.cluster_of[0], clusters.cluster_of[1]);
  EXPECT_EQ(clusters.cluster_of[4], clusters.cluster_of[5]);
  EXPECT_DOUBLE_EQ(clusters.inertia, 6);
}

TEST(Kmeans, FewerDistinctPointsThanClusters) {
  const std::vector<Point2> points = {{1, 1}, {1, 1}, {2, 2}};
  EXPECT_EQ(kmeans(points, {}).centroids.size(), 2u);
  EXPECT_TRUE(kmeans({}, {}).centroids.empty());
}

TEST(Kmeans, EqualSeedsGiveEqualClusters) {
  std::vector<Point2> points;
  for (int i = 0; i < 60; ++i) points.push_back({i * 37 % 101 / 1.0, i * 53 % 97 / 1.0});
  const Clusters2 one = kmeans(points, {});
  const Clusters2 two = kmeans(points, {});
  EXPECT_EQ(one.centroids, two.centroids);
  EXPECT_EQ(one.cluster_of, two.cluster_of);
}

RC_GTEST_PROP(Kmeans, PointsBelongToTheirNearestCentroid, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 40);
  std::vector<Point2> points;
  std::vector<double> line;
  for (size_t i = 0; i < size; ++i) {
    line.push_back(*rc::gen::inRange(0, 100));
    points.push_back({line.back(), 7});
  }
  const auto k = *rc::gen::inRange<size_t>(1, 6);
  const Clusters2 clusters =
      kmeans(points, {.num_clusters = k, .seed = 3, .starts = 4, .iterations_max = 300});
  RC_ASSERT(clusters.centroids.size() <= k);
  for (size_t i = 0; i < size; ++i) {
    RC_ASSERT(clusters.cluster_of[i] == nearest(clusters.centroids, points[i]));
  }
  // On a line the exact optimum is known.
  RC_ASSERT(clusters.inertia >= kmeans1d(line, k).inertia - 1e-9);
}

}  // namespace
}  // namespace goban::core::knowledge
