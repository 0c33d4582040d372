#include "core/model/job_speeds.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"

namespace goban::core::model {
namespace {

JobSpeeds two_models() {
  JobSpeeds speeds;
  speeds.add(ModelId(0u), 64, 0, {4, 3.0});
  speeds.add(ModelId(0u), 64, 0, {1, 1.0});
  speeds.add(ModelId(0u), 64, 1, {1, 2.0});
  speeds.add(ModelId(0u), 0, 0, {1, 0.5});
  speeds.add_never(ModelId(0u), 64, 1, 4);
  return speeds;
}

TEST(JobSpeeds, LevelsAscendWithinTheRangeOfTheJob) {
  const JobSpeeds speeds = two_models();
  JobRequest request;
  request.model = ModelId(0u);
  const auto of = [&](int32_t least, int32_t most) {
    std::vector<int32_t> gpus;
    const TrainingFacts facts{.batch_size = 64, .gpus_min = least, .gpus_max = most};
    for (const SpeedLevel& level : speeds.levels(request, facts, 0)) gpus.push_back(level.gpus);
    return gpus;
  };
  EXPECT_EQ(of(1, 4), (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(of(1, 3), (std::vector<int32_t>{1}));
  EXPECT_EQ(of(2, 9), (std::vector<int32_t>{4}));
  EXPECT_TRUE(of(2, 3).empty());
  EXPECT_TRUE(of(5, 4).empty());
}

TEST(JobSpeeds, BatchSizesWithoutRowsUseThoseOfAll) {
  const JobSpeeds speeds = two_models();
  EXPECT_DOUBLE_EQ(speeds.find(ModelId(0u), 32, 0, 1)->steps_per_s, 0.5);
  EXPECT_DOUBLE_EQ(speeds.find(ModelId(0u), 64, 0, 1)->steps_per_s, 1);
  EXPECT_EQ(speeds.find(ModelId(0u), 32, 1, 1), nullptr);
  EXPECT_FALSE(speeds.knows(ModelId(1u), 0));
}

TEST(JobSpeeds, TheFastestIsOverGpuModels) {
  const JobSpeeds speeds = two_models();
  EXPECT_DOUBLE_EQ(speeds.fastest(ModelId(0u), 64, 1)->steps_per_s, 2);
  EXPECT_DOUBLE_EQ(speeds.fastest(ModelId(0u), 64, 4)->steps_per_s, 3);
  EXPECT_EQ(speeds.fastest(ModelId(0u), 64, 2), nullptr);
}

TEST(JobSpeeds, InterpolationGoesBetweenWhatIsKnown) {
  JobSpeeds speeds = two_models();
  speeds.interpolate();
  EXPECT_NEAR(speeds.find(ModelId(0u), 64, 0, 2)->steps_per_s, 1 + 2.0 / 3, 1e-12);
  EXPECT_TRUE(speeds.find(ModelId(0u), 64, 0, 3)->interpolated);
  EXPECT_FALSE(speeds.find(ModelId(0u), 64, 0, 4)->interpolated);
  EXPECT_EQ(speeds.find(ModelId(0u), 64, 0, 5), nullptr);
}

TEST(JobSpeeds, WhatIsUnknownIsNamed) {
  const Cluster cluster = make_preset("1x4:V100+1x4:A100").value();
  const JobSpeeds speeds = two_models();
  JobRequest request;
  request.model = ModelId(0u);
  request.num_gpus = 1;
  const auto problem = [&](int32_t most) {
    return speed_problem(speeds, cluster, request,
                         {.batch_size = 64, .gpus_min = 1, .gpus_max = most}, "net");
  };
  EXPECT_EQ(problem(4), "") << "that it never runs on four A100 is known";
  EXPECT_EQ(problem(3), "the speed of net with batch size 64 on 3 x V100 was not measured");
}

TEST(JobSpeeds, FollowGpuModelsToOtherIndices) {
  const std::vector<uint32_t> moved = {UINT32_MAX, 0};
  const JobSpeeds speeds = two_models().with_models(moved);
  EXPECT_DOUBLE_EQ(speeds.find(ModelId(0u), 64, 0, 1)->steps_per_s, 2);
  EXPECT_EQ(speeds.find(ModelId(0u), 64, 0, 4), nullptr);
  EXPECT_FALSE(speeds.knows(ModelId(0u), 32)) << "it was known on the model that left only";
}

TEST(JobSpeeds, TheLargestLevelThatFits) {
  const std::vector<SpeedLevel> levels = {{2, 1.0}, {4, 2.0}};
  EXPECT_EQ(level_at_most(levels, 1), nullptr);
  EXPECT_EQ(level_at_most(levels, 3)->gpus, 2);
  EXPECT_EQ(level_at_most(levels, 100)->gpus, 4);
}

}  // namespace
}  // namespace goban::core::model
