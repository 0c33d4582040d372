#include "live/controller/runs.hpp"

#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"

namespace goban::live::controller {
namespace {

struct RunsTest : testing::Test {
  LiveJob& add(uint32_t id) { return book.jobs[JobId(id)] = {.job = JobId(id)}; }
  void begin(LiveJob& job, std::vector<GpuId> gpus, bool shares = false) {
    core::model::Allocation allocation;
    allocation.gpus = std::move(gpus);
    runs.begin(job, allocation, shares, 10);
  }
  /// Creates, launches and starts a run.
  LiveRun& start(LiveJob& job, std::vector<GpuId> gpus, TimeNs at = 10) {
    begin(job, std::move(gpus));
    (void)runs.launch_pending(at);
    LiveRun& run = *runs.current(job);
    runs.started(job, run, false, at);
    job.stage = runs.stage_of(job, true);
    return run;
  }
  template <typename T>
  std::vector<T> take() {
    std::vector<T> found;
    for (const Order& order : std::exchange(orders, {})) {
      if (const auto* each = std::get_if<T>(&order)) found.push_back(*each);
    }
    return found;
  }

  core::model::Cluster cluster = *core::model::make_preset("64x4");
  JobBook book;
  std::vector<Order> orders;
  Runs runs{book, cluster, orders};
};

TEST_F(RunsTest, ALaunchNamesNodesAndIndexes) {
  LiveJob& job = add(0);
  begin(job, {GpuId(5U), GpuId(0U), GpuId(4U)});
  EXPECT_EQ(runs.stage_of(job, true), JobStage::Starting);
  EXPECT_EQ(runs.launch_pending(20), std::vector{JobId(0U)});
  const auto launches = take<LaunchOrder>();
  ASSERT_EQ(launches.size(), 1U);
  const LaunchOrder& order = launches.front();
  EXPECT_EQ(order.run, (RunId{JobId(0U), 1}));
  ASSERT_EQ(order.parts.size(), 2U);
  EXPECT_EQ(order.parts[0].node, cluster.node(NodeId(1U)).name);
  EXPECT_EQ(order.parts[0].gpus, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(order.parts[1].gpus, (std::vector<int32_t>{0}));
}

TEST_F(RunsTest, ALaunchWaitsForThoseWhoLeaveItsGpus) {
  LiveJob& first = add(0);
  start(first, {GpuId(0U), GpuId(1U)});
  runs.stop(first, StopReason::Preempted, 0);
  LiveJob& second = add(1);
  begin(second, {GpuId(1U)});
  EXPECT_TRUE(runs.launch_pending(20).empty());
  runs.end(first, {JobId(0U), 1}, Report{}, 30);
  EXPECT_EQ(runs.launch_pending(30), std::vector{JobId(1U)});
}

TEST_F(RunsTest, ALaunchWaitsForTheRunBeforeItOfTheSameJob) {
  LiveJob& job = add(0);
  start(job, {GpuId(0U)});
  runs.stop(job, StopReason::Preempted, 0);
  begin(job, {GpuId(7U)});
  EXPECT_TRUE(runs.launch_pending(20).empty());
  EXPECT_EQ(runs.stage_of(job, true), JobStage::Stopping);
  runs.end(job, {JobId(0U), 1}, Report{}, 30);
  EXPECT_EQ(runs.launch_pending(30).size(), 1U);
}

TEST_F(RunsTest, AStopBeforeTheLaunchDropsTheRun) {
  LiveJob& job = add(0);
  begin(job, {GpuId(0U)});
  runs.stop(job, StopReason::Cancelled, 0);
  EXPECT_TRUE(orders.empty());
  EXPECT_EQ(job.runs, 0U);
  EXPECT_EQ(runs.current(job), nullptr);
}

TEST_F(RunsTest, ALaunchThatIsDroppedGivesTheGpusBack) {
  LiveJob& job = add(0);
  begin(job, {GpuId(0U)});
  EXPECT_TRUE(runs.drop_pending(job));
  EXPECT_TRUE(job.gpus.empty());
  EXPECT_FALSE(runs.drop_pending(job));
  start(job, {GpuId(1U)});
  runs.stop(job, StopReason::Preempted, 0);
  begin(job, {GpuId(2U)});
  EXPECT_TRUE(runs.drop_pending(job));
  EXPECT_EQ(job.gpus, std::vector{GpuId(1U)}) << "it is still there";
  begin(job, {GpuId(2U)});
  runs.end(job, {JobId(0U), 1}, Report{}, 30);
  EXPECT_TRUE(runs.drop_pending(job));
  EXPECT_EQ(job.gpus, std::vector{GpuId(1U)}) << "of its last run";
  begin(job, {GpuId(3U)});
  EXPECT_EQ(runs.launch_pending(40), std::vector{JobId(0U)});
  runs.never_began(job, {JobId(0U), 2});
  begin(job, {GpuId(2U)});
  EXPECT_TRUE(runs.drop_pending(job));
  EXPECT_TRUE(job.gpus.empty());
}

TEST_F(RunsTest, AStopForGoodOverridesAPreemption) {
  LiveJob& job = add(0);
  LiveRun& run = start(job, {GpuId(0U)});
  take<LaunchOrder>();
  runs.stop(job, StopReason::Preempted, 0);
  runs.stop(job, StopReason::Cancelled, 0);
  runs.stop(job, StopReason::Preempted, 0);
  EXPECT_EQ(run.stop, StopReason::Cancelled);
  const auto told = take<StopRun>();
  ASSERT_EQ(told.size(), 2U) << "a cluster must not have it wait again";
  EXPECT_EQ(told.back().reason, StopReason::Cancelled);
  const auto again = runs.unanswered();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(std::get<StopRun>(again.front()).reason, StopReason::Cancelled);
}

TEST_F(RunsTest, WalltimeCountsOverAllRuns) {
  LiveJob& job = add(0);
  job.spec.walltime_limit_ns = 100;
  start(job, {GpuId(0U)}, 10);
  EXPECT_EQ(runs.next_limit_ns(), 110);
  runs.end(job, {JobId(0U), 1}, Report{}, 40);
  EXPECT_EQ(runs.next_limit_ns(), base::kNever);
  start(job, {GpuId(0U)}, 200);
  EXPECT_EQ(runs.next_limit_ns(), 270);
  EXPECT_TRUE(runs.over_limit(269).empty());
  EXPECT_EQ(runs.over_limit(270), std::vector{JobId(0U)});
}

TEST_F(RunsTest, NeighboursAreMarked) {
  LiveJob& first = add(0);
  LiveJob& second = add(1);
  LiveJob& third = add(2);
  begin(first, {GpuId(0U)}, true);
  begin(second, {GpuId(0U), GpuId(1U)}, true);
  begin(third, {GpuId(2U)}, true);
  EXPECT_TRUE(runs.current(first)->shared);
  EXPECT_TRUE(runs.current(second)->shared);
  EXPECT_FALSE(runs.current(third)->shared);
}

TEST_F(RunsTest, WhatRunsUsedIsSummed) {
  LiveJob& job = add(0);
  start(job, {GpuId(0U)}, 10);
  runs.end(job, {JobId(0U), 1}, {.usage = {.cpu_s = 2, .mem_bytes_max = 70}}, 40);
  start(job, {GpuId(0U)}, 50);
  runs.end(job, {JobId(0U), 2}, {.usage = {.cpu_s = 3, .mem_bytes_max = 60}}, 90);
  EXPECT_EQ(job.usage.cpu_s, 5);
  EXPECT_EQ(job.usage.mem_bytes_max, 70);
  EXPECT_LT(job.usage.energy_j, 0) << "nobody measured it";
  EXPECT_EQ(job.held_ns, 70);
  EXPECT_EQ(job.past.size(), 2U);
}

}  // namespace
}  // namespace goban::live::controller
