#include "core/knowledge/score_draw.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "base/test_data.hpp"
#include "base/text_file.hpp"
#include "core/knowledge/binning.hpp"

namespace goban::core::knowledge {
namespace {

ProfileRuns counted_profile(uint32_t num_gpus) {
  ProfileRuns profile;
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    profile.uuids.push_back(std::to_string(gpu));
    profile.runs.push_back({gpu + 1.0, gpu + 1.25, gpu + 1.5});
  }
  return profile;
}

TEST(ScoreDraw, DrawsEachProfiledGpuOnce) {
  const ProfileRuns profile = counted_profile(20);
  const std::vector<const ProfileRuns*> by_class = {&profile};
  const ScoreDraw draw = draw_scores(20, by_class, ScoreMode::Median, 1);
  EXPECT_FALSE(draw.repeated);
  const std::vector<uint32_t>& drawn = draw.drawn[0];
  EXPECT_EQ(std::set<uint32_t>(drawn.begin(), drawn.end()).size(), 20u);
  EXPECT_FALSE(std::ranges::is_sorted(drawn));
  for (size_t gpu = 0; gpu < 20; ++gpu) EXPECT_EQ(draw.raw_by_class[0][gpu], drawn[gpu] + 1.25);
}

TEST(ScoreDraw, DrawsAgainFromAFullPoolAndSaysSo) {
  const ProfileRuns profile = counted_profile(8);
  const std::vector<const ProfileRuns*> by_class = {&profile};
  const ScoreDraw draw = draw_scores(20, by_class, ScoreMode::Median, 1);
  EXPECT_TRUE(draw.repeated);
  std::vector<int> times(8);
  for (size_t i = 0; i < 16; ++i) ++times[draw.drawn[0][i]];
  EXPECT_THAT(times, testing::Each(2));
}

TEST(ScoreDraw, SeedsRepeatAndModesShareTheGpus) {
  const ProfileRuns profile = counted_profile(50);
  const ProfileRuns other = counted_profile(60);
  const std::vector<const ProfileRuns*> by_class = {&profile, &other, &other};
  const ScoreDraw run = draw_scores(16, by_class, ScoreMode::Run, 7);
  EXPECT_EQ(run.raw_by_class, draw_scores(16, by_class, ScoreMode::Run, 7).raw_by_class);
  EXPECT_NE(run.drawn, draw_scores(16, by_class, ScoreMode::Run, 8).drawn);
  EXPECT_EQ(run.drawn, draw_scores(16, by_class, ScoreMode::Median, 7).drawn);
  EXPECT_EQ(run.drawn, draw_scores(16, by_class, ScoreMode::Robust, 7).drawn);
  EXPECT_NE(run.drawn[0], run.drawn[1]);
  EXPECT_EQ(run.drawn[1], run.drawn[2]);
  EXPECT_NE(run.raw_by_class[1], run.raw_by_class[2]);
  for (size_t gpu = 0; gpu < 16; ++gpu) {
    const std::vector<double>& runs = profile.runs[run.drawn[0][gpu]];
    EXPECT_NE(std::ranges::find(runs, run.raw_by_class[0][gpu]), runs.end());
  }
}

TEST(ScoreDraw, ModesHaveNames) {
  EXPECT_EQ(parse_score_mode("robust"), ScoreMode::Robust);
  EXPECT_EQ(parse_score_mode("median"), ScoreMode::Median);
  EXPECT_EQ(parse_score_mode("run"), ScoreMode::Run);
  ASSERT_FALSE(parse_score_mode("mean"));
  EXPECT_THAT(parse_score_mode("mean").error().text(), testing::HasSubstr("robust, median, run"));
}

TEST(ScoreDraw, LonghornsStragglerShowsInRunsOnly) {
  const auto folder = base::test_data("pal/profiles/sim");
  if (!folder) GTEST_SKIP() << folder.error().text();
  const auto resnet =
      parse_profile_runs(base::read_text_file(*folder + "/resnet-longhorn-agg.csv").value(),
                         *folder + "/resnet-longhorn-agg.csv");
  const auto bert =
      parse_profile_runs(base::read_text_file(*folder + "/bert-longhorn-agg.csv").value(),
                         *folder + "/bert-longhorn-agg.csv");
  const auto pagerank =
      parse_profile_runs(base::read_text_file(*folder + "/pagerank-longhorn-agg.csv").value(),
                         *folder + "/pagerank-longhorn-agg.csv");
  ASSERT_TRUE(resnet && bert && pagerank);
  const std::vector<const ProfileRuns*> by_class = {&*resnet, &*bert, &*bert, &*pagerank};
  double run_max = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ScoreDraw run = draw_scores(64, by_class, ScoreMode::Run, seed);
    const ScoreDraw median = draw_scores(64, by_class, ScoreMode::Median, seed);
    run_max = std::max(run_max, std::ranges::max(run.raw_by_class[0]));
    EXPECT_LT(std::ranges::max(median.raw_by_class[0]), 1.124);
    EXPECT_EQ(bin_classes(run.raw_by_class).num_classes(), 4u);
  }
  EXPECT_GT(run_max, 1.5);
}

}  // namespace
}  // namespace goban::core::knowledge
