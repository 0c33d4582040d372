// Application classes from measurements: K-means over how busy an application keeps the memory and
// the functional units (PAL, spec 2). Compute-bound applications feel a slow GPU most.
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

/// Utilisation in percent of peak.
struct AppFeatures {
  double dram_pct = 0;
  double fu_pct = 0;  ///< functional units
  friend bool operator==(const AppFeatures&, const AppFeatures&) = default;
};

/// The features a job profile states, if it states both.
[[nodiscard]] std::optional<AppFeatures> features_of(const base::reports::JobProfile& profile);

struct ClassifierOptions {
  size_t num_classes = 3;
  uint64_t seed = 1;
  /// Classes given by hand; they come before any measurement. Keys are model names.
  std::map<std::string, AppClass, std::less<>> overrides;
};

/// Classes learnt from a set of applications. Class A has the largest functional-unit less DRAM
/// utilisation (compute-bound), the last class the smallest (memory-bound).
class AppClassifier {
 public:
  /// Clusters the applications; fewer distinct ones than classes give fewer classes. Errors: none
  /// to learn from, a feature outside 0 to 100.
  [[nodiscard]] static base::Result<AppClassifier> fit(std::span<const AppFeatures> apps,
                                                       ClassifierOptions options = {});

  /// Class of an application: its override, else that of the nearest centroid.
  [[nodiscard]] AppClass classify(std::string_view model, const AppFeatures& features) const;
  /// Without measurements: its override, else the static map of known models, else A.
  [[nodiscard]] AppClass classify(std::string_view model) const;

  /// Mean features of each class, from A on.
  [[nodiscard]] std::span<const AppFeatures> centroids() const { return centroids_; }

 private:
  std::vector<Point2> points_;  ///< the centroids again, as K-means has them
  std::vector<AppFeatures> centroids_;
  std::map<std::string, AppClass, std::less<>> overrides_;
};

}  // namespace goban::core::knowledge
