// Files of runs as supervisors of release 0.1 left them: whoever takes over their folder reads
// them.
#include <gtest/gtest.h>

#include "live/engine/local/run_order.hpp"

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
  EXPECT_EQ(progress->news.step, 10);
  EXPECT_EQ(progress->checkpoint_step, 8);
  EXPECT_LT(progress->news.busy_s, 0) << "nobody measured it then";
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
  EXPECT_EQ(status->progress.news.epoch, 1.5);
}

TEST(RunFiles, AnOrderOfALaterReleaseIsRefusedByName) {
  const auto order = parse_order(R"({"version":2,"job":7,"run":2})", "order");
  ASSERT_FALSE(order);
  EXPECT_NE(order.error().text().find("version 2"), std::string::npos) << order.error().text();
}

}  // namespace
}  // namespace goban::live::engine::local
