// K-means of points in the plane: k-means++ initialisation (Arthur and Vassilvitskii 2007), then
// Lloyd's iteration; the best of several starts. Equal seeds give equal results on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goban::core::knowledge {

/// Two features.
using Point2 = std::array<double, 2>;

struct Clusters2 {
  std::vector<Point2> centroids;     ///< distinct; at most num_clusters
  std::vector<uint32_t> cluster_of;  ///< by point: the nearest centroid, the lowest on a tie
  double inertia = 0;                ///< sum of squared distances to the cluster's centroid
};

struct KmeansOptions {
  size_t num_clusters = 3;
  uint64_t seed = 1;
  int starts = 16;
  int iterations_max = 300;
};

/// Clusters finite points below 1e100. Fewer distinct points than clusters give one cluster per
/// point. Cost: starts x iterations x points x clusters.
[[nodiscard]] Clusters2 kmeans(std::span<const Point2> points, const KmeansOptions& options);

/// Index of the nearest centroid, the lowest on a tie; at least one centroid.
[[nodiscard]] uint32_t nearest(std::span<const Point2> centroids, const Point2& point);

}  // namespace goban::core::knowledge
