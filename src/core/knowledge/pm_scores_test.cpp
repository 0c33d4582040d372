#include "core/knowledge/pm_scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;

TEST(PmScores, BinsAreNumberedByValueAndRememberTheirFirstGpu) {
  const std::vector<double> bins = {1.2, 0.9, 1.2, 2.5, 0.9};
  const ClassScores scores = class_from_values({1, 2, 3, 4, 5}, bins);
  EXPECT_THAT(scores.bin_values, ElementsAre(0.9, 1.2, 2.5));
  EXPECT_THAT(scores.bin, ElementsAre(1, 0, 1, 2, 0));
  EXPECT_THAT(scores.bins_by_appearance, ElementsAre(1, 0, 2));
}

TEST(PmScores, AGangRunsAtTheSpeedOfItsSlowestGpu) {
  const std::vector<double> one_bin = {1, 1, 1};
  const PmScores scores(
      {class_from_values({1, 2.83, 0.9}, one_bin), class_from_values({1, 1, 1.5}, one_bin)});
  const std::vector<GpuId> gpus = {GpuId(2U), GpuId(1U)};
  EXPECT_EQ(scores.max_raw({0}, gpus), 2.83);
  EXPECT_EQ(scores.max_raw({1}, gpus), 1.5);
  EXPECT_EQ(scores.max_raw({7}, gpus), 1.5);  // beyond the last class: the last one
  EXPECT_EQ(scores.max_raw({0}, {}), 1);
}

TEST(PmScores, UniformScoresAreOne) {
  const PmScores scores = PmScores::uniform(3);
  EXPECT_EQ(scores.num_gpus(), 3u);
  EXPECT_THAT(scores.of({0}).raw, ElementsAre(1, 1, 1));
  EXPECT_THAT(scores.of({4}).bin_values, ElementsAre(1));
}

}  // namespace
}  // namespace goban::core::knowledge
