#include "core/knowledge/robust_scores.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/test_data.hpp"
#include "base/text_file.hpp"

namespace goban::core::knowledge {
namespace {

ProfileRuns profile_of(std::vector<std::vector<double>> runs) {
  ProfileRuns profile;
  profile.uuids.resize(runs.size(), "gpu");
  profile.runs = std::move(runs);
  profile.median_perf = 1;
  return profile;
}

TEST(RobustScores, OneTransientRunIsRejected) {
  const auto scores =
      robust_scores(profile_of({{1.0, 1.01, 2.83, 0.99}, {1.0, 1.02, 0.98}, {1.01, 0.99, 1.0}}));
  EXPECT_NEAR(scores[0].score, 1.0, 1e-12);
  EXPECT_EQ(scores[0].runs, 4u);
  EXPECT_EQ(scores[0].rejected, 1u);
  EXPECT_FALSE(scores[0].clamped);
  EXPECT_EQ(scores[1].rejected, 0u);
  // sigma 1.4826 * 0.02 of the GPU itself is above the fleet's typical one.
  EXPECT_NEAR(*scores[1].std_error, 1.2533 * 1.4826 * 0.02 / std::sqrt(3.0), 1e-12);
}

TEST(RobustScores, AConfirmedStragglerStaysOne) {
  const auto scores =
      robust_scores(profile_of({{2.8, 2.83, 2.81}, {1.0, 1.02, 0.98}, {1.0, 1.0, 1.0}}));
  EXPECT_DOUBLE_EQ(scores[0].score, 2.81);
  EXPECT_EQ(scores[0].rejected, 0u);
}

TEST(RobustScores, ALoneExtremeIsClampedToTheFleet) {
  const auto scores = robust_scores(profile_of({{2.83}, {1.0}, {1.02}, {0.98}, {1.01}}));
  EXPECT_TRUE(scores[0].clamped);
  EXPECT_LT(scores[0].score, 1.1);
  EXPECT_GT(scores[0].score, 1.01);
  EXPECT_FALSE(scores[2].clamped);
  EXPECT_EQ(scores[2].score, 1.02);
  EXPECT_FALSE(scores[0].std_error);
}

TEST(RobustScores, MoreRunsMakeItSurer) {
  const auto scores = robust_scores(
      profile_of({{1.0, 1.02, 0.98},
                  {1.0, 1.02, 0.98, 1.0, 1.02, 0.98, 1.0, 1.02, 0.98, 1.0, 1.02, 0.98},
                  {1.0}}));
  EXPECT_LT(*scores[1].std_error, *scores[0].std_error);
  EXPECT_LT(*scores[0].std_error, *scores[2].std_error);
  EXPECT_TRUE(robust_scores({}).empty());
}

RC_GTEST_PROP(RobustScores, NoSingleRunMakesAStraggler, ()) {
  // All true times are in [0.95, 1.05]; one run of one GPU is replaced by an arbitrary value.
  std::vector<std::vector<double>> runs(*rc::gen::inRange<size_t>(1, 12));
  for (std::vector<double>& own : runs) {
    const auto size = *rc::gen::inRange<size_t>(3, 8);
    for (size_t i = 0; i < size; ++i) own.push_back(0.95 + *rc::gen::inRange(0, 101) / 1000.0);
  }
  const auto victim = *rc::gen::inRange<size_t>(0, runs.size());
  runs[victim][0] = std::exp(*rc::gen::inRange(-500, 501) / 100.0);
  for (const RobustScore& robust : robust_scores(profile_of(runs))) {
    RC_ASSERT(robust.score > 0.85 && robust.score < 1.15);
    RC_ASSERT(robust.rejected * 2 <= robust.runs);
  }
}

RC_GTEST_PROP(RobustScores, NoLoneRunMakesAStraggler, ()) {
  // One run per GPU, at least three GPUs.
  std::vector<std::vector<double>> runs;
  const auto size = *rc::gen::inRange<size_t>(3, 20);
  for (size_t i = 0; i < size; ++i) runs.push_back({0.95 + *rc::gen::inRange(0, 101) / 1000.0});
  runs[*rc::gen::inRange<size_t>(0, size)] = {std::exp(*rc::gen::inRange(-500, 501) / 100.0)};
  for (const RobustScore& robust : robust_scores(profile_of(runs))) {
    RC_ASSERT(robust.score > 0.4 && robust.score < 1.6);
  }
}

TEST(RobustScores, LonghornsStragglerWasOneRun) {
  const auto path = base::test_data("pal/profiles/sim/resnet-longhorn-agg.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto profile = parse_profile_runs(base::read_text_file(*path).value(), *path);
  ASSERT_TRUE(profile) << profile.error().text();
  const auto scores = robust_scores(*profile);
  EXPECT_LT(std::ranges::max(scores, {}, &RobustScore::score).score, 1.13);
  uint32_t rejected = 0;
  for (const RobustScore& robust : scores) rejected += robust.rejected;
  EXPECT_GT(rejected, 0u);
}

TEST(RobustScores, SingleRunsOfLonestar6AreFenced) {
  const auto path = base::test_data("pal/profiles/ls6/resnet-ls6-agg.csv");
  if (!path) GTEST_SKIP() << path.error().text();
  const auto profile = parse_profile_runs(base::read_text_file(*path).value(), *path);
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_GT(std::ranges::max(median_scores(*profile)), 2.2);
  EXPECT_LT(std::ranges::max(robust_scores(*profile), {}, &RobustScore::score).score, 1.2);
}

}  // namespace
}  // namespace goban::core::knowledge
