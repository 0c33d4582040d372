// Application classes that are learned again as applications become known (PAL, spec 2): K-means
// over what was measured of each, never over two kinds of measurements at once.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/reports/job_profile.hpp"
#include "core/knowledge/app_classifier.hpp"

namespace goban::core::knowledge {

class LearnedClasses {
 public:
  /// Fewer applications of a kind say nothing of where a class begins.
  static constexpr size_t kApplicationsLeast = 6;

  explicit LearnedClasses(size_t num_classes) : num_classes_(num_classes) {}

  /// Takes what is known of an application, in place of what was; a profile without features takes
  /// it out. Cost: that of K-means over all, unless they are many and few are new.
  void put(const std::string& application, const base::reports::JobProfile& profile);

  /// None: the profile has no features, or too few applications are known.
  [[nodiscard]] std::optional<AppClass> of(const base::reports::JobProfile& profile) const;

 private:
  /// Applications with features of one kind.
  struct Kind {
    std::map<std::string, AppFeatures> apps{};
    std::optional<AppClassifier> classifier{};
    size_t changes = 0;  ///< since the classifier was made
  };
  void put(Kind& kind, const std::string& application, const std::optional<AppFeatures>& features);

  size_t num_classes_;
  Kind of_peak_{};  ///< by performance counters
  Kind of_time_{};  ///< by how long memory and kernels were at work
};

}  // namespace goban::core::knowledge
