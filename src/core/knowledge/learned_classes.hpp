// Application classes that are recomputed as applications become known (PAL: application classes,
// docs/papers.md): K-means over their measured features; different kinds of measurements are never
// mixed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/reports/job_profile.hpp"
#include "core/knowledge/app_classifier.hpp"

namespace goban::core::knowledge {

class LearnedClasses {
 public:
  /// Minimum number of applications for a classification.
  static constexpr size_t kApplicationsLeast = 6;

  explicit LearnedClasses(size_t num_classes) : num_classes_(num_classes) {}

  /// Sets the profile of an application; a profile without features removes it. Cost: K-means over
  /// all applications, unless only a small share changed.
  void put(const std::string& application, const base::reports::JobProfile& profile);

  /// The class; nullopt if the profile has no features, or too few applications are known.
  [[nodiscard]] std::optional<AppClass> of(const base::reports::JobProfile& profile) const;

 private:
  /// Applications with features of one kind.
  struct Kind {
    std::map<std::string, AppFeatures> apps{};
    std::optional<AppClassifier> classifier{};
    size_t changes = 0;  ///< since the classifier was computed
  };
  void put(Kind& kind, const std::string& application, const std::optional<AppFeatures>& features);

  size_t num_classes_;
  Kind of_peak_{};  ///< measured by performance counters, in percent of the peak
  Kind of_time_{};  ///< measured as shares of time in which memory and kernels were active
};

}  // namespace goban::core::knowledge
