// Jobs that share GPUs, and what tells how they fare.
#include <csignal>
#include <gtest/gtest.h>

#include "engine/local/test_runs.hpp"

namespace goban::engine::local {
namespace {

using live::Report;
using live::ReportKind;
using live::StopReason;

/// A run on the one virtual GPU, which is CPU core 0.
live::LaunchOrder on_gpu(TestRuns& runs, uint32_t number, const std::string& script) {
  if (runs.gpus.empty()) {
    LocalGpu& gpu = runs.gpus.emplace_back();
    gpu.is_virtual = true;
    gpu.cpus = {0};
  }
  auto order = runs.job(number, script);
  order.gpus = {live::GpuId(0U)};
  order.spec.num_gpus = 1;
  order.spec.training.gpu_mem_bytes = int64_t{32} << 20;
  return order;
}

/// Holds 64 MiB; file `up` tells.
constexpr const char* kHog =
    "x=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
    "i=0; while [ $i -lt 20 ]; do x=$x$x; i=$((i+1)); done\necho up > up\nsleep 600\n";

class RestartedWith : public testing::TestWithParam<bool> {};

// The daemon died between the launch of the neighbour and the word to the resident.
TEST_P(RestartedWith, AResidentHearsOfItsNeighbourFromTheNextDaemon) {
  TestRuns runs("neighbour" + std::to_string(GetParam()));
  const auto resident = on_gpu(runs, 1, kHog);
  runs.engine().launch(resident);
  ASSERT_TRUE(wait_until([&] { return exists(runs.out("up")); }));
  auto neighbour = on_gpu(runs, 2, "sleep 600\n");
  neighbour.shares = true;
  runs.engine().launch(neighbour);
  ASSERT_TRUE(wait_until([&] { return exists(runs.folder(neighbour).file("running")); }));
  runs.restart();
  const bool resident_first = GetParam();
  runs.engine().resume(resident_first ? resident : neighbour);
  runs.engine().resume(resident_first ? neighbour : resident);
  EXPECT_TRUE(runs.wait_for(resident.run, ReportKind::Ended).back().out_of_memory);
  runs.engine().stop(neighbour.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(neighbour.run, ReportKind::Ended).back().signal, SIGTERM);
}

INSTANTIATE_TEST_SUITE_P(Sharing, RestartedWith, testing::Bool());

TEST(Sharing, AJobThatSaysNothingIsKnownByHowBusyItIs) {
  TestRuns runs("silent");
  const auto order = on_gpu(runs, 1, "while [ ! -e done ]; do :; done\n");
  runs.engine().launch(order);
  double busy_s = 0;
  ASSERT_TRUE(wait_until(
      [&] {
        for (const Report& report : runs.engine().take_reports()) {
          if (report.kind != ReportKind::Progress) continue;
          EXPECT_LT(report.progress.epoch, 0);
          EXPECT_GE(report.progress.busy_s, busy_s) << "it only grows";
          busy_s = report.progress.busy_s;
        }
        return busy_s > 0.05;
      },
      120));
  std::ofstream(runs.out("done")) << "x";
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_GE(end.usage.cpu_s, busy_s - 0.05) << "CPU seconds of its one core";
}

TEST(Sharing, AJobThatSaysItsEpochsIsNotJudgedByHowBusyItIs) {
  TestRuns runs("speaks");
  const auto order = on_gpu(runs, 1,
                            "python3 -c 'import os, socket, time\n"
                            "s = socket.socket(socket.AF_UNIX)\n"
                            "s.connect(os.environ[\"GOBAN_PROGRESS_SOCKET\"])\n"
                            "s.sendall(b\"progress epoch=1 epochs=4\\n\")\n"
                            "time.sleep(7)'\n");
  const Report end = runs.run(order);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_DOUBLE_EQ(end.progress.epochs, 4);
  EXPECT_LT(end.progress.busy_s, 0.5) << "nothing since it spoke";
}

}  // namespace
}  // namespace goban::engine::local
