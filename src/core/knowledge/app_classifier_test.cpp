#include "core/knowledge/app_classifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace goban::core::knowledge {
namespace {

const std::vector<AppFeatures> kApps = {
    {15, 85}, {20, 80}, {18, 90},  // compute-bound
    {45, 50}, {50, 45}, {48, 52},  // both
    {85, 15}, {90, 20}, {80, 10},  // memory-bound
};

TEST(AppClassifier, ComputeBoundIsAAndMemoryBoundIsC) {
  const auto classifier = AppClassifier::fit(kApps);
  ASSERT_TRUE(classifier) << classifier.error().text();
  ASSERT_EQ(classifier->centroids().size(), 3u);
  EXPECT_EQ(classifier->classify("m", {10, 95}).letter(), 'A');
  EXPECT_EQ(classifier->classify("m", {50, 50}).letter(), 'B');
  EXPECT_EQ(classifier->classify("m", {95, 5}).letter(), 'C');
  EXPECT_GT(classifier->centroids()[0].fu_pct, classifier->centroids()[1].fu_pct);
  EXPECT_LT(classifier->centroids()[1].dram_pct, classifier->centroids()[2].dram_pct);
}

TEST(AppClassifier, OverridesComeFirst) {
  ClassifierOptions options;
  options.overrides["resnet50"] = AppClass{3};
  const auto classifier = AppClassifier::fit(kApps, options);
  ASSERT_TRUE(classifier);
  EXPECT_EQ(classifier->classify("resnet50", {10, 95}).letter(), 'D');
}

TEST(AppClassifier, FewApplicationsGiveFewClasses) {
  const std::vector<AppFeatures> apps = {{10, 90}, {90, 10}, {10, 90}};
  const auto classifier = AppClassifier::fit(apps);
  ASSERT_TRUE(classifier);
  EXPECT_EQ(classifier->centroids().size(), 2u);
  EXPECT_EQ(classifier->classify("m", {80, 20}).letter(), 'B');
}

TEST(AppClassifier, RefusesWhatItCannotLearnFrom) {
  EXPECT_FALSE(AppClassifier::fit({}));
  for (const double bad : {-1.0, 101.0, std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<AppFeatures> apps = {{10, 10}, {10, bad}};
    const auto classifier = AppClassifier::fit(apps);
    ASSERT_FALSE(classifier);
    EXPECT_THAT(classifier.error().text(), testing::HasSubstr("application 2 of 2"));
  }
}

TEST(AppClassifier, FeaturesComeFromJobProfiles) {
  base::reports::JobProfile profile;
  EXPECT_FALSE(features_of(profile));
  profile.dram_utilisation_pct = {30, 0};
  EXPECT_FALSE(features_of(profile));
  profile.fu_utilisation_pct = {70, 0};
  ASSERT_TRUE(features_of(profile));
  EXPECT_EQ(features_of(profile)->fu_pct, 70);
}

RC_GTEST_PROP(AppClassifier, ClassesAreOrderedBySensitivity, ()) {
  const auto size = *rc::gen::inRange<size_t>(1, 30);
  std::vector<AppFeatures> apps;
  for (size_t i = 0; i < size; ++i) {
    apps.push_back({*rc::gen::inRange(0, 101) * 1.0, *rc::gen::inRange(0, 101) * 1.0});
  }
  const auto classifier = AppClassifier::fit(apps);
  RC_ASSERT(classifier.has_value());
  const auto centroids = classifier->centroids();
  RC_ASSERT(!centroids.empty() && centroids.size() <= 3);
  for (size_t c = 1; c < centroids.size(); ++c) {
    RC_ASSERT(centroids[c - 1].fu_pct - centroids[c - 1].dram_pct >=
              centroids[c].fu_pct - centroids[c].dram_pct);
  }
}

}  // namespace
}  // namespace goban::core::knowledge
