#include "core/knowledge/learned_classes.hpp"

#include <vector>

namespace goban::core::knowledge {
namespace {

/// Share of changed applications at which the classifier is recomputed.
constexpr double kChangedShare = 0.05;

std::optional<AppFeatures> time_features_of(const base::reports::JobProfile& profile) {
  if (!profile.memory_busy_pct || !profile.utilisation_pct) return std::nullopt;
  return AppFeatures{profile.memory_busy_pct->value, profile.utilisation_pct->value};
}

}  // namespace

void LearnedClasses::put(const std::string& application, const base::reports::JobProfile& profile) {
  put(of_peak_, application, features_of(profile));
  put(of_time_, application, time_features_of(profile));
}

void LearnedClasses::put(Kind& kind, const std::string& application,
                         const std::optional<AppFeatures>& features) {
  const auto known = kind.apps.find(application);
  if (!features) {
    if (known == kind.apps.end()) return;
    kind.apps.erase(known);
  } else {
    if (known != kind.apps.end() && known->second == *features) return;
    kind.apps.insert_or_assign(application, *features);
  }
  if (kind.apps.size() < kApplicationsLeast) {
    kind.classifier.reset();
    return;
  }
  ++kind.changes;
  const bool few =
      static_cast<double>(kind.changes) < kChangedShare * static_cast<double>(kind.apps.size());
  if (kind.classifier && few) return;
  std::vector<AppFeatures> all;
  for (const auto& [name, each] : kind.apps) all.push_back(each);
  auto made = AppClassifier::fit(all, {.num_classes = num_classes_, .overrides = {}});
  if (!made) return;
  kind.classifier = std::move(*made);
  kind.changes = 0;
}

std::optional<AppClass> LearnedClasses::of(const base::reports::JobProfile& profile) const {
  const auto peak = features_of(profile);
  if (peak && of_peak_.classifier) return of_peak_.classifier->classify(profile.model, *peak);
  const auto time = time_features_of(profile);
  if (time && of_time_.classifier) return of_time_.classifier->classify(profile.model, *time);
  return std::nullopt;
}

}  // namespace goban::core::knowledge
