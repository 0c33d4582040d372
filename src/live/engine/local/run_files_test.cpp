// Run files written by supervisors of release 0.1 must stay readable.
#include <gtest/gtest.h>

#include "live/engine/local/run_status.hpp"

namespace goban::live::engine::local {
namespace {

TEST(RunFiles, OfReleaseZeroOneAreRead) {
  const auto order = parse_order(
      R"({"version":1,"job":7,"run":2,"spec":{"name":"bert","num_gpus":1},)"
      R"("gpus":[{"index":1,"uuid":"VIRTUAL-1","virtual":true,"cpus":[1]}],"shares":false,)"
      R"("restarts":1,"run_instances":1,"node":"vm","payload":"/p","cgroup_root":"",)"
      R"("socket_root":"","attach_timeout_s":60})",
      "order");
  ASSERT_TRUE(order) << order.error().text();
  EXPECT_EQ(job::job_number(order->run.job), 7U);
  EXPECT_EQ(order->spec.name, "bert");
  ASSERT_EQ(order->gpus.size(), 1U);

  const auto note = parse_note(
      R"({"supervisor_pid":17,"pid":18,"started_ns":1700000000000000000,"cgroup":""})", "running");
  ASSERT_TRUE(note) << note.error().text();
  EXPECT_EQ(note->pid, 18);

  const std::string said =
      R"({"epoch":1.5,"epochs":4,"step":10,"steps":40,"samples_per_s":3.5,"loss":0.5,)"
      R"("checkpoint_step":8})";
  const auto progress = parse_progress(said, "progress");
  ASSERT_TRUE(progress) << progress.error().text();
  EXPECT_EQ(progress->latest.step, 10);
  EXPECT_EQ(progress->checkpoint_step, 8);
  EXPECT_LT(progress->latest.busy_s, 0) << "nobody measured it then";
  EXPECT_TRUE(progress->ranks.empty());

  const auto status = parse_status(
      R"({"refused":false,"exit_code":3,"signal":0,"out_of_memory":false,"acknowledged":true,)"
      R"("usage":{"cpu_s":12.5,"mem_bytes_max":1000,"gpu_mem_bytes_max":500,"gpu_util_pct":40,)"
      R"("energy_j":1200},"progress":)" +
          said + R"(,"started_ns":1700000000000000000,"ended_ns":1700000060000000000,"detail":""})",
      "status");
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->exit_code, 3);
  EXPECT_DOUBLE_EQ(status->usage.cpu_s, 12.5);
  EXPECT_DOUBLE_EQ(status->usage.energy_j, 1200);
  EXPECT_EQ(status->progress.latest.epoch, 1.5);
}

// Written by the last build with lists of numbers for ranks and pace, and -1 for unknown fields.
TEST(RunFiles, RanksAndPaceAsListsAreRead) {
  const auto status = parse_status(
      R"({"acknowledged":true,"detail":"as measured","ended_ns":1700000060000000000,)"
      R"("exit_code":3,"out_of_memory":true,"progress":{"busy_s":6.1,"checkpoint_step":120,)"
      R"("epoch":1.3,"epochs":4.0,"input_stall_pct":2.5,"loss":-0.7,"pace":[40.0,4.1,0.3,4.0],)"
      R"("ranks":[[0,2,40,3.3,0.7,0.0],[1,2,41,3.9,0.1]],"samples_per_s":333.3333333333333,)"
      R"("step":130,"steps":400},"refused":false,"signal":0,"started_ns":1700000000000000000,)"
      R"("usage":{"cpu_s":12.125,"dram_util_pct":11.100000381469727,"energy_j":0.1,)"
      R"("fu_util_pct":0.0,"gpu_mem_bytes_max":9007199254740993,)"
      R"("gpu_util_pct":63.29999923706055,"mem_bytes_max":3221225472,)"
      R"("memory_busy_pct":21.700000762939453}})",
      "status");
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(status->exit_code, 3);
  EXPECT_EQ(status->ended_ns, 1'700'000'060'000'000'000);
  EXPECT_EQ(status->usage.gpu_util_pct, 63.3F);
  EXPECT_EQ(status->usage.gpu_mem_bytes_max, 9'007'199'254'740'993);
  EXPECT_EQ(status->progress.latest.loss, -0.7);
  EXPECT_EQ(status->progress.checkpoint_step, 120);
  ASSERT_EQ(status->progress.ranks.size(), 2U);
  EXPECT_EQ(status->progress.ranks[0].data_s, 0);
  EXPECT_EQ(status->progress.ranks[1].busy_s, 3.9);
  EXPECT_LT(status->progress.ranks[1].data_s, 0);
  EXPECT_EQ(status->progress.pace.epochs, (Pace{.done = 0.3, .over_s = 4}));

  const auto empty = parse_status(
      R"({"acknowledged":false,"detail":"","ended_ns":0,"exit_code":-1,"out_of_memory":false,)"
      R"("progress":{"busy_s":-1.0,"checkpoint_step":-1,"epoch":-1.0,"epochs":-1.0,)"
      R"("input_stall_pct":-1.0,"loss":-1.0,"pace":[0.0,0.0,0.0,0.0],"ranks":[],)"
      R"("samples_per_s":-1.0,"step":-1,"steps":-1},"refused":false,"signal":0,"started_ns":0,)"
      R"("usage":{"cpu_s":-1.0,"dram_util_pct":-1.0,"energy_j":-1.0,"fu_util_pct":-1.0,)"
      R"("gpu_mem_bytes_max":-1,"gpu_util_pct":-1.0,"mem_bytes_max":-1,"memory_busy_pct":-1.0}})",
      "status");
  ASSERT_TRUE(empty) << empty.error().text();
  EXPECT_EQ(empty->progress, RunProgress{});
  EXPECT_EQ(empty->usage, RunUsage{});
}

TEST(RunFiles, AStatusIsReadBackToTheBit) {
  RunStatus status{.exit_code = 1, .usage = {.cpu_s = 0.1, .gpu_util_pct = 63.3F}};
  status.progress = {.latest = {.epoch = 0.1, .loss = -0.7}, .checkpoint_step = 7};
  status.progress.ranks = {{.rank = 1, .ranks = 2, .steps = 3, .busy_s = 0.1}};
  status.progress.pace.steps = {.done = 3, .over_s = 0.3};
  const auto again = parse_status(to_text(status), "status");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->usage, status.usage);
  EXPECT_EQ(again->progress, status.progress);
}

TEST(RunFiles, ProblemsNameFileAndField) {
  const auto status = parse_status(R"({"usage":{"cpu_s":"much"}})", "runs/status");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), "runs/status: usage.cpu_s: must be a number");
  const auto order = parse_order(R"({"run":1})", "runs/order");
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().text(), "runs/order: job: is missing");
}

TEST(RunFiles, AnOrderOfALaterReleaseIsRefusedByName) {
  const auto order = parse_order(R"({"version":2,"job":7,"run":2})", "order");
  ASSERT_FALSE(order);
  EXPECT_NE(order.error().text().find("version 2"), std::string::npos) << order.error().text();
}

}  // namespace
}  // namespace goban::live::engine::local
