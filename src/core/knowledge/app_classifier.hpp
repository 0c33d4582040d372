// Application classes from measurements: K-means over the utilisation of memory and functional
// units (PAL: application classes, docs/papers.md). Compute-bound applications are the most
// sensitive to slow GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reports/job_profile.hpp"
#include "base/result.hpp"
#include "core/knowledge/kmeans.hpp"
#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// Utilisation in percent of the peak.
struct AppFeatures {
  double dram_pct = 0;
  double fu_pct = 0;  ///< functional units
  friend bool operator==(const AppFeatures&, const AppFeatures&) = default;
};

/// The features in a job profile, if it has both.
[[nodiscard]] std::optional<AppFeatures> features_of(const base::reports::JobProfile& profile);

struct ClassifierOptions {
  size_t num_classes = 3;
  uint64_t seed = 1;
  /// Classes set by hand, by model name; they precede measurements.
  std::map<std::string, AppClass, std::less<>> overrides;
};

/// Classes learnt from a set of applications, ordered by functional-unit minus DRAM utilisation:
/// class A has the largest difference (compute-bound), the last class the smallest (memory-bound).
class AppClassifier {
 public:
  /// Clusters the applications. Fewer distinct applications than classes give fewer classes.
  /// Errors: no applications, a feature outside 0 to 100.
  [[nodiscard]] static base::Result<AppClassifier> fit(std::span<const AppFeatures> apps,
                                                       ClassifierOptions options = {});

  /// Class of an application: its override, otherwise that of the nearest centroid.
  [[nodiscard]] AppClass classify(std::string_view model, const AppFeatures& features) const;

  /// Mean features of each class, from A on.
  [[nodiscard]] std::span<const AppFeatures> centroids() const { return centroids_; }

 private:
  std::vector<Point2> points_;  ///< the centroids in the form of kmeans.hpp
  std::vector<AppFeatures> centroids_;
  std::map<std::string, AppClass, std::less<>> overrides_;
};

}  // namespace goban::core::knowledge
