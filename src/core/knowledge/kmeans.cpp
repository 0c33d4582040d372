#include "core/knowledge/kmeans.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

double distance2(const Point2& a, const Point2& b) {
  const double x = a[0] - b[0];
  const double y = a[1] - b[1];
  return x * x + y * y;
}

// Initial centroids: each is a point, drawn with probability proportional to its squared distance
// to the nearest centroid so far. Fewer if every distinct point is a centroid.
std::vector<Point2> plus_plus(std::span<const Point2> points, size_t num_clusters,
                              base::Random& random) {
  std::vector<Point2> centroids = {points[random.below(points.size())]};
  std::vector<double> weight(points.size());
  while (centroids.size() < num_clusters) {
    double total = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      weight[i] = distance2(points[i], centroids[nearest(centroids, points[i])]);
      total += weight[i];
    }
    if (total == 0) break;
    double left = random.uniform() * total;
    size_t chosen = points.size();
    for (size_t i = 0; i < points.size(); ++i) {
      if (weight[i] == 0) continue;
      chosen = i;  // the last such point is chosen if rounding uses up `left`
      left -= weight[i];
      if (left < 0) break;
    }
    centroids.push_back(points[chosen]);
  }
  return centroids;
}

// Moves each centroid to the mean of its points; one without points is dropped.
std::vector<Point2> means(std::span<const Point2> points, std::span<const uint32_t> cluster_of,
                          size_t num_clusters) {
  std::vector<Point2> sum(num_clusters, Point2{0, 0});
  std::vector<double> count(num_clusters);
  for (size_t i = 0; i < points.size(); ++i) {
    sum[cluster_of[i]][0] += points[i][0];
    sum[cluster_of[i]][1] += points[i][1];
    count[cluster_of[i]] += 1;
  }
  std::vector<Point2> centroids;
  for (size_t c = 0; c < num_clusters; ++c) {
    if (count[c] > 0) centroids.push_back({sum[c][0] / count[c], sum[c][1] / count[c]});
  }
  return centroids;
}

Clusters2 assigned(std::span<const Point2> points, std::vector<Point2> centroids) {
  Clusters2 clusters;
  clusters.centroids = std::move(centroids);
  clusters.cluster_of.reserve(points.size());
  for (const Point2& point : points) {
    clusters.cluster_of.push_back(nearest(clusters.centroids, point));
    clusters.inertia += distance2(point, clusters.centroids[clusters.cluster_of.back()]);
  }
  return clusters;
}

Clusters2 lloyd(std::span<const Point2> points, std::vector<Point2> start, int iterations_max) {
  Clusters2 clusters = assigned(points, std::move(start));
  for (int i = 0; i < iterations_max; ++i) {
    std::vector<Point2> moved = means(points, clusters.cluster_of, clusters.centroids.size());
    if (moved == clusters.centroids) break;
    clusters = assigned(points, std::move(moved));
  }
  return clusters;
}

}  // namespace

uint32_t nearest(std::span<const Point2> centroids, const Point2& point) {
  GOBAN_CHECK(!centroids.empty());
  size_t best = 0;
  for (size_t c = 1; c < centroids.size(); ++c) {
    if (distance2(point, centroids[c]) < distance2(point, centroids[best])) best = c;
  }
  return static_cast<uint32_t>(best);
}

Clusters2 kmeans(std::span<const Point2> points, const KmeansOptions& options) {
  GOBAN_CHECK(options.num_clusters > 0 && options.starts > 0);
  if (points.empty()) return {};
  for (const Point2& point : points) {
    GOBAN_CHECK(std::abs(point[0]) < 1e100 && std::abs(point[1]) < 1e100);
  }
  base::Random random(options.seed);
  Clusters2 best;
  for (int start = 0; start < options.starts; ++start) {
    Clusters2 clusters =
        lloyd(points, plus_plus(points, options.num_clusters, random), options.iterations_max);
    // Prefer more centroids: a start may have dropped one.
    const bool better =
        clusters.centroids.size() > best.centroids.size() ||
        (clusters.centroids.size() == best.centroids.size() && clusters.inertia < best.inertia);
    if (better) best = std::move(clusters);
  }
  return best;
}

}  // namespace goban::core::knowledge
