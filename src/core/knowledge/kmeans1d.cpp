#include "core/knowledge/kmeans1d.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

/// The distinct values, ascending, with prefix sums weighted by multiplicity.
struct Points {
  std::vector<double> value;
  std::vector<uint32_t> point_of;  ///< by input value
  // Sums over the first i points, of values minus their mean, to preserve precision.
  std::vector<double> count{0.0};
  std::vector<double> sum{0.0};
  std::vector<double> squares{0.0};
  double mean = 0;

  [[nodiscard]] size_t size() const { return value.size(); }
  /// Inertia of the points [begin, end) as one cluster.
  [[nodiscard]] double cost(size_t begin, size_t end) const {
    if (end - begin == 1) return 0;
    const double s = sum[end] - sum[begin];
    return std::max(0.0, squares[end] - squares[begin] - s * s / (count[end] - count[begin]));
  }
};

Points sorted_points(std::span<const double> values) {
  for (const double value : values) GOBAN_CHECK(std::abs(value) < 1e100);  // also rejects NaN
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(values[i], i); });
  Points points;
  points.point_of.resize(values.size());
  std::vector<double> times;
  for (const uint32_t i : order) {
    if (points.value.empty() || points.value.back() != values[i]) {
      points.value.push_back(values[i]);
      times.push_back(0);
    }
    times.back() += 1;
    points.point_of[i] = static_cast<uint32_t>(points.size() - 1);
    points.mean += values[i];
  }
  if (values.empty()) return points;
  points.mean /= static_cast<double>(values.size());
  for (size_t p = 0; p < points.size(); ++p) {
    const double centred = points.value[p] - points.mean;
    points.count.push_back(points.count.back() + times[p]);
    points.sum.push_back(points.sum.back() + times[p] * centred);
    points.squares.push_back(points.squares.back() + times[p] * centred * centred);
  }
  return points;
}

/// One row of the table: minimum inertia of the first `end` points in k clusters, and the first
/// point of the last of these clusters.
struct Row {
  std::vector<double> inertia;
  std::vector<uint32_t> last_begin;
};

/// A range of `end` to be filled, and the range of its best `last_begin`, which never decreases
/// with `end`.
struct Task {
  size_t end_low, end_high;
  size_t begin_low, begin_high;
};

Row next_row(const Points& points, const Row& before, size_t k) {
  const size_t n = points.size();
  Row row{std::vector<double>(n + 1, 0.0), std::vector<uint32_t>(n + 1, 0)};
  std::vector<Task> tasks = {{k, n, k - 1, n - 1}};
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.end_low > task.end_high) continue;
    const size_t end = task.end_low + (task.end_high - task.end_low) / 2;
    double best = std::numeric_limits<double>::infinity();
    size_t best_begin = task.begin_low;
    for (size_t begin = task.begin_low; begin <= std::min(task.begin_high, end - 1); ++begin) {
      const double inertia = before.inertia[begin] + points.cost(begin, end);
      if (inertia < best) {
        best = inertia;
        best_begin = begin;
      }
    }
    row.inertia[end] = best;
    row.last_begin[end] = static_cast<uint32_t>(best_begin);
    tasks.push_back({task.end_low, end - 1, task.begin_low, best_begin});
    tasks.push_back({end + 1, task.end_high, best_begin, task.begin_high});
  }
  return row;
}

// Reconstructs the clusters by walking the rows backwards from all points.
Clusters1d clusters_from(const Points& points, std::span<const Row> rows) {
  const size_t k = rows.size();
  std::vector<size_t> border(k + 1, points.size());
  for (size_t c = k; c-- > 0;) border[c] = rows[c].last_begin[border[c + 1]];
  std::vector<uint32_t> cluster_of_point(points.size());
  Clusters1d clusters;
  for (size_t c = 0; c < k; ++c) {
    const size_t begin = border[c];
    const size_t end = border[c + 1];
    double sum = 0;
    for (size_t p = begin; p < end; ++p) {
      cluster_of_point[p] = static_cast<uint32_t>(c);
      sum += (points.value[p] - points.value[begin]) * (points.count[p + 1] - points.count[p]);
    }
    const double mean = points.value[begin] + sum / (points.count[end] - points.count[begin]);
    // Rounding must not move a centroid out of its cluster.
    clusters.centroids.push_back(std::clamp(mean, points.value[begin], points.value[end - 1]));
  }
  for (const uint32_t point : points.point_of) {
    clusters.cluster_of.push_back(cluster_of_point[point]);
    const double off = points.value[point] - clusters.centroids[clusters.cluster_of.back()];
    clusters.inertia += off * off;
  }
  return clusters;
}

std::vector<Row> table(const Points& points, size_t clusters_max) {
  const size_t k_max = std::min(clusters_max, points.size());
  std::vector<Row> rows;
  if (k_max == 0) return rows;
  Row first{std::vector<double>(points.size() + 1, 0.0),
            std::vector<uint32_t>(points.size() + 1, 0)};
  for (size_t end = 1; end <= points.size(); ++end) first.inertia[end] = points.cost(0, end);
  rows.push_back(std::move(first));
  while (rows.size() < k_max) rows.push_back(next_row(points, rows.back(), rows.size() + 1));
  return rows;
}

}  // namespace

Clusters1d kmeans1d(std::span<const double> values, size_t num_clusters) {
  GOBAN_CHECK(num_clusters > 0);
  const Points points = sorted_points(values);
  return clusters_from(points, table(points, num_clusters));
}

std::vector<Clusters1d> kmeans1d_up_to(std::span<const double> values, size_t clusters_max) {
  const Points points = sorted_points(values);
  const std::vector<Row> rows = table(points, clusters_max);
  std::vector<Clusters1d> result;
  for (size_t k = 1; k <= rows.size(); ++k) {
    result.push_back(clusters_from(points, std::span(rows).first(k)));
  }
  return result;
}

}  // namespace goban::core::knowledge
