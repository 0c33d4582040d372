#include "core/knowledge/app_classifier.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

bool is_percent(double value) { return value >= 0 && value <= 100; }  // false for NaN

// From the most to the least compute-bound; ties by functional units, then DRAM.
bool more_compute_bound(const Point2& a, const Point2& b) {
  const double a_lead = a[1] - a[0];
  const double b_lead = b[1] - b[0];
  return a_lead != b_lead ? a_lead > b_lead : a[1] > b[1];
}

}  // namespace

std::optional<AppFeatures> features_of(const base::reports::JobProfile& profile) {
  if (!profile.dram_utilisation_pct || !profile.fu_utilisation_pct) return std::nullopt;
  return AppFeatures{profile.dram_utilisation_pct->value, profile.fu_utilisation_pct->value};
}

base::Result<AppClassifier> AppClassifier::fit(std::span<const AppFeatures> apps,
                                               ClassifierOptions options) {
  GOBAN_CHECK(options.num_classes > 0 && options.num_classes <= 26);
  if (apps.empty()) {
    return base::failed("no measured applications to learn classes from",
                        "give job profiles with dram_utilisation_pct and fu_utilisation_pct");
  }
  std::vector<Point2> points;
  for (const AppFeatures& app : apps) {
    if (!is_percent(app.dram_pct) || !is_percent(app.fu_pct)) {
      return base::failed(
          fmt::format("application {} of {} has a utilisation outside 0 to 100 percent: DRAM {}, "
                      "functional units {}",
                      points.size() + 1, apps.size(), app.dram_pct, app.fu_pct),
          "give utilisation in percent of the peak");
    }
    points.push_back({app.dram_pct, app.fu_pct});
  }
  KmeansOptions how;
  how.num_clusters = options.num_classes;
  how.seed = options.seed;
  AppClassifier classifier;
  classifier.points_ = kmeans(points, how).centroids;
  std::ranges::sort(classifier.points_, more_compute_bound);
  for (const Point2& point : classifier.points_) {
    classifier.centroids_.push_back({point[0], point[1]});
  }
  classifier.overrides_ = std::move(options.overrides);
  return classifier;
}

AppClass AppClassifier::classify(std::string_view model, const AppFeatures& features) const {
  if (const auto found = overrides_.find(model); found != overrides_.end()) return found->second;
  return {static_cast<uint8_t>(nearest(points_, {features.dram_pct, features.fu_pct}))};
}

}  // namespace goban::core::knowledge
