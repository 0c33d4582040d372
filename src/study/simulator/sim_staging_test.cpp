#include "study/simulator/sim_staging.hpp"

#include <gtest/gtest.h>
#include <limits>

#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {
namespace {

using base::kSecond;

constexpr int64_t kGb = 1'000'000'000;

struct StagedJob {
  double submit_s;
  double work_s;
  int64_t in_bytes;
  const char* set;
  int64_t out_bytes = 0;
};

core::model::JobHistory history_of(const std::vector<StagedJob>& jobs) {
  core::model::JobHistory history;
  for (const StagedJob& each : jobs) {
    core::model::Job job;
    job.work_s = each.work_s;
    job.request.submit_ns = base::from_seconds(each.submit_s);
    job.request.num_gpus = 1;
    job.request.model = core::model::ModelId(history.models.intern(""));
    job.request.user = core::model::UserId(history.users.intern(""));
    job.request.account = core::model::AccountId(history.accounts.intern(""));
    job.request.partition = core::model::PartitionId(history.partitions.intern(""));
    job.request.qos = core::model::QosId(history.qos.intern(""));
    history.job_names.add(std::to_string(history.jobs.size()));
    history.jobs.push_back(job);
    history.staging.push_back({.in_bytes = each.in_bytes,
                               .out_bytes = each.out_bytes,
                               .set = history.data_sets.intern(each.set)});
  }
  return history;
}

core::model::StorageTiers tiers_of(int64_t fast_bytes) {
  return {.slow = core::model::StorageTier{.name = "slow", .bandwidth_bytes_per_s = 1e9},
          .fast = core::model::StorageTier{
              .name = "fast", .size_bytes = fast_bytes, .bandwidth_bytes_per_s = 5e9}};
}

struct SimulatedStaging : testing::Test {
  SimulationResult run(const std::vector<StagedJob>& jobs, int64_t fast_bytes, int gpus = 4) {
    core::model::JobHistory history = history_of(jobs);
    const auto stages = [](const core::model::StagedData& data) {
      return data.in_bytes + data.out_bytes > 0;
    };
    if (std::ranges::none_of(history.staging, stages)) history.staging.clear();
    core::model::ClusterBuilder builder("c");
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = "n";
    placed.node.num_gpus = static_cast<uint32_t>(gpus);
    placed.node.gpu_model = builder.add_gpu_model({.name = "g"});
    builder.add_node(placed);
    const auto cluster = builder.build();
    const auto scores = core::knowledge::PmScores::uniform(cluster->num_gpus());
    const core::knowledge::LocalityPenalties penalties(*cluster, 1.0);
    const core::policy::SpeedModel speed{&*cluster, &scores, &penalties};
    SimulationOptions options;
    options.tiers = tiers_of(fast_bytes);
    auto result = simulate(history, speed, *core::policy::compose("fifo+packed"), options);
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return result ? std::move(*result) : SimulationResult{};
  }
  static double start_s(const SimulationResult& result, size_t job) {
    return base::to_seconds(result.outcomes[job].start_ns);
  }
};

TEST_F(SimulatedStaging, AJobStartsWhenItsDataWasCopied) {
  // 20 GB at 1 GB/s; the second copy begins when the first has ended.
  const auto result =
      run({{0, 10, 20 * kGb, "a"}, {5, 10, 30 * kGb, "b"}, {6, 10, 0, ""}}, 100 * kGb);
  EXPECT_DOUBLE_EQ(start_s(result, 0), 20);
  EXPECT_DOUBLE_EQ(start_s(result, 1), 50);
  EXPECT_DOUBLE_EQ(start_s(result, 2), 6);
  ASSERT_TRUE(result.staging);
  EXPECT_EQ(result.staging->jobs, 2);
  EXPECT_EQ(result.staging->hits, 0);
  EXPECT_EQ(result.staging->in_bytes, 50 * kGb);
  EXPECT_DOUBLE_EQ(result.staging->stage_s_sum, 20 + 45);
  EXPECT_DOUBLE_EQ(result.staging->stage_s_max, 45);
  EXPECT_DOUBLE_EQ(result.staging->link_busy_s, 50);
}

TEST_F(SimulatedStaging, AHitStartsAtOnceAndOneOnItsWayTogether) {
  const auto result =
      run({{0, 10, 20 * kGb, "a"}, {5, 10, 20 * kGb, "a"}, {40, 10, 20 * kGb, "a"}}, 100 * kGb);
  EXPECT_DOUBLE_EQ(start_s(result, 0), 20);
  EXPECT_DOUBLE_EQ(start_s(result, 1), 20);
  EXPECT_DOUBLE_EQ(start_s(result, 2), 40);
  EXPECT_EQ(result.staging->hits, 2);
  EXPECT_EQ(result.staging->in_bytes, 20 * kGb);
  EXPECT_EQ(result.staging->hit_bytes, 40 * kGb);
}

TEST_F(SimulatedStaging, TheLeastRecentlyUsedLeavesAndDataInUseStays) {
  // a is used at 20 to 30, b at 60 to 70; c (20 GB) displaces a. d (80 GB) waits for b's end.
  const auto result = run({{0, 10, 20 * kGb, "a"},
                           {40, 60, 20 * kGb, "b"},
                           {65, 5, 80 * kGb, "d"},
                           {66, 5, 20 * kGb, "a"}},
                          90 * kGb);
  EXPECT_DOUBLE_EQ(start_s(result, 1), 60);
  // b ends at 120. Then 80 GB need the room of b, and of a, whose job at 66 found it there.
  EXPECT_DOUBLE_EQ(start_s(result, 3), 66);
  EXPECT_DOUBLE_EQ(start_s(result, 2), 120 + 80);
  EXPECT_EQ(result.staging->evictions, 2);
  EXPECT_EQ(result.staging->hits, 1);
  EXPECT_DOUBLE_EQ(result.staging->full_s_sum, 120 - 65);
}

TEST_F(SimulatedStaging, ResultsTakeTheSameLink) {
  const auto result = run({{0, 10, 0, "", 30 * kGb}, {12, 10, 5 * kGb, "a"}}, 100 * kGb);
  // Results are copied from 10 to 40, the data from 40 to 45.
  EXPECT_DOUBLE_EQ(start_s(result, 1), 45);
  EXPECT_EQ(result.staging->out_bytes, 30 * kGb);
  EXPECT_DOUBLE_EQ(result.staging->out_s_sum, 30);
  EXPECT_DOUBLE_EQ(base::to_seconds(result.outcomes[0].finish_ns), 10)
      << "its GPUs were free before";
}

TEST_F(SimulatedStaging, NamelessDataIsTheJobsOwn) {
  const auto result = run({{0, 10, 10 * kGb, ""}, {50, 10, 10 * kGb, ""}}, 100 * kGb);
  EXPECT_EQ(result.staging->hits, 0);
  EXPECT_DOUBLE_EQ(start_s(result, 1), 60);
}

TEST_F(SimulatedStaging, HistoriesWithoutDataHaveNoFigures) {
  const auto result = run({{0, 10, 0, ""}}, kGb);
  EXPECT_FALSE(result.staging);
  EXPECT_DOUBLE_EQ(start_s(result, 0), 0);
}

TEST_F(SimulatedStaging, SumsDoNotOverflow) {
  constexpr int64_t kMost = int64_t{9'000'000} * 1'000'000 * 1'000'000;
  const auto result = run({{0, 1, 0, "", kMost}, {0, 1, 0, "", kMost}}, kGb);
  EXPECT_EQ(result.staging->out_bytes, std::numeric_limits<int64_t>::max());
}

TEST(SimStagings, ADataSetHasOneSize) {
  const auto history =
      history_of({{0, 10, 20 * kGb, "a"}, {5, 10, 0, "a"}, {9, 10, 30 * kGb, "a"}});
  const auto staging = SimStaging::make(history, tiers_of(100 * kGb));
  ASSERT_FALSE(staging);
  EXPECT_EQ(staging.error().message,
            "jobs 0 and 2 stage the data set a with different sizes: 20 GB and 30 GB");
  EXPECT_TRUE(
      SimStaging::make(history_of({{0, 1, kGb, ""}, {0, 1, 2 * kGb, ""}}), tiers_of(100 * kGb)))
      << "data without a name is the job's own";
}

TEST(SimStagings, WhatCannotBeSimulatedIsNamed) {
  const auto history = history_of({{0, 10, 20 * kGb, "a"}});
  const auto none = SimStaging::make(history, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no fast storage tier"), std::string::npos);
  const auto small = SimStaging::make(history, tiers_of(10 * kGb));
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().message.find("job 0 stages 20"), std::string::npos)
      << small.error().message;
}

TEST(SimStagings, ACancelledJobNeitherStartsNorKeepsItsRoom) {
  const auto history = history_of({{0, 10, 60 * kGb, "a"}, {1, 10, 60 * kGb, "b"}});
  auto staging = SimStaging::make(history, tiers_of(100 * kGb));
  ASSERT_TRUE(staging);
  EXPECT_FALSE(staging->submitted(JobId(0U), 0));
  EXPECT_FALSE(staging->submitted(JobId(1U), kSecond));
  EXPECT_EQ(staging->next_ns(), 60 * kSecond);
  EXPECT_TRUE(staging->ended(JobId(0U), 2 * kSecond, false));
  EXPECT_TRUE(staging->take_ready(60 * kSecond).empty());
  EXPECT_EQ(staging->next_ns(), 120 * kSecond) << "the copy of a goes on, b follows";
  EXPECT_EQ(staging->take_ready(120 * kSecond), std::vector<JobId>{JobId(1U)});
}

}  // namespace
}  // namespace goban::study::simulator
