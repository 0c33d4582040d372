// Exact one-dimensional K-means: dynamic programming over the sorted values (Wang and Song,
// "Ckmeans.1d.dp", The R Journal 2011), each row by divide and conquer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goban::core::knowledge {

/// A clustering of numbers; clusters are numbered by ascending centroid.
struct Clusters1d {
  std::vector<double> centroids;     ///< ascending, distinct
  std::vector<uint32_t> cluster_of;  ///< by value, in the order of the input
  double inertia = 0;                ///< sum of squared distances to the cluster's centroid
};

/// The clustering with minimum inertia into `num_clusters` clusters, or fewer if there are fewer
/// distinct values. Equal values share a cluster; of several optima, the one with the lowest
/// boundaries. Values are finite and below 1e100; num_clusters > 0. No values give no clusters.
/// Cost: O(n log n + K n log n) time, O(K n) memory.
[[nodiscard]] Clusters1d kmeans1d(std::span<const double> values, size_t num_clusters);

/// The optima for 1, 2, ..., `clusters_max` clusters (at most the number of distinct values), at
/// the cost of the last one.
[[nodiscard]] std::vector<Clusters1d> kmeans1d_up_to(std::span<const double> values,
                                                     size_t clusters_max);

}  // namespace goban::core::knowledge
