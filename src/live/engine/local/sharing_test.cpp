// Jobs that share GPUs, and their measurements.
#include <csignal>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/gpus/nvml.hpp"
#include "live/engine/local/supervisor.hpp"
#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

/// A run on the one virtual GPU, which is CPU core 0.
LaunchOrder on_gpu(TestRuns& runs, uint32_t number, const std::string& script) {
  if (runs.gpus.empty()) {
    base::gpus::LocalGpu& gpu = runs.gpus.emplace_back();
    gpu.is_virtual = true;
    gpu.cpus = {0};
  }
  auto order = runs.job(number, script);
  order.gpus = {core::model::GpuId(0U)};
  order.spec.num_gpus = 1;
  order.spec.training.gpu_mem_bytes = int64_t{32} << 20;
  return order;
}

/// Holds 64 MiB and then writes the file `up`.
constexpr const char* kHog =
    "x=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
    "i=0; while [ $i -lt 20 ]; do x=$x$x; i=$((i+1)); done\necho up > up\nsleep 600\n";

class RestartedWith : public testing::TestWithParam<bool> {};

// The daemon was killed between the launch of the neighbour and the notice to the resident run.
TEST_P(RestartedWith, AResidentHearsOfItsNeighbourFromTheNextDaemon) {
  TestRuns runs("neighbour" + std::to_string(GetParam()));
  const auto resident = on_gpu(runs, 1, kHog);
  runs.engine().launch(resident);
  ASSERT_TRUE(wait_until([&] { return base::exists(runs.out("up")); }));
  auto neighbour = on_gpu(runs, 2, "sleep 600\n");
  neighbour.shares = true;
  runs.engine().launch(neighbour);
  ASSERT_TRUE(wait_until([&] { return base::exists(runs.folder(neighbour).file("running")); }));
  runs.restart();
  const bool resident_first = GetParam();
  runs.engine().resume(resident_first ? resident : neighbour);
  runs.engine().resume(resident_first ? neighbour : resident);
  EXPECT_TRUE(runs.wait_for(resident.run, ReportKind::Ended).back().out_of_memory);
  runs.engine().stop(neighbour.run, StopReason::Cancelled);
  EXPECT_EQ(runs.wait_for(neighbour.run, ReportKind::Ended).back().signal, SIGTERM);
}

INSTANTIATE_TEST_SUITE_P(Sharing, RestartedWith, testing::Bool(), [](const auto& each) {
  return std::string(each.param ? "ResidentFirst" : "NeighbourFirst");
});

TEST(Sharing, AJobThatSaysNothingIsKnownByHowBusyItIs) {
  TestRuns runs("silent");
  const auto order = on_gpu(runs, 1, "while [ ! -e done ]; do :; done\n");
  runs.engine().launch(order);
  double busy_s = 0;
  ASSERT_TRUE(wait_until(
      [&] {
        for (const Report& report : runs.reports()) {
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

double now_s() { return base::to_seconds(base::steady_ns()); }

/// Two runs on one GPU with a constant power of `watts`: their charges add up to the energy while
/// it was held, and the first run, which was alone for a while, is charged more.
void expect_parts_of_the_whole(TestRuns& runs, double watts) {
  const auto first = on_gpu(runs, 1, "while [ ! -e done ]; do sleep 0.02; done\n");
  auto second = on_gpu(runs, 2, "sleep 1.2\n");
  second.shares = true;
  const double before_s = now_s();
  runs.engine().launch(first);
  const auto started = runs.wait_for(first.run, ReportKind::Started).back();
  ASSERT_EQ(started.kind, ReportKind::Started);
  ASSERT_TRUE(wait_until([&] { return base::wall_ns() - started.at_ns > base::kSecond / 2; }));
  const Report guest = runs.run(second);
  std::ofstream(runs.out("done")) << "x";
  const Report host = runs.wait_for(first.run, ReportKind::Ended).back();
  ASSERT_EQ(host.kind, ReportKind::Ended);
  const double after_s = now_s();
  const double sum_j = host.usage.energy_j + guest.usage.energy_j;
  EXPECT_LE(sum_j, watts * (after_s - before_s));
  EXPECT_GE(sum_j, watts * (base::to_seconds(host.at_ns - started.at_ns) - 0.01));
  EXPECT_GT(guest.usage.energy_j, watts * 0.5) << "half of 1.2 s at least";
  EXPECT_GT(host.usage.energy_j, guest.usage.energy_j + watts * 0.4);
}

TEST(Sharing, TheEnergyOfAVirtualGpuIsDividedAmongItsHolders) {
  TestRuns runs("virtual_energy");
  (void)on_gpu(runs, 1, "");
  runs.gpus[0].power_idle_w = runs.gpus[0].power_max_w = 100;
  expect_parts_of_the_whole(runs, 100);
}

TEST(Sharing, TheEnergyOfAGpuIsDividedAmongItsHolders) {
  ::setenv("GOBAN_NVML", GOBAN_FAKE_NVML, 1);
  ::setenv("FAKE_NVML_WATTS", "300", 1);
  TestRuns runs("nvml_energy");
  runs.gpus = (*base::gpus::NvmlLibrary::load())->gpus().value();
  expect_parts_of_the_whole(runs, 300);
  ::unsetenv("FAKE_NVML_WATTS");
  ::unsetenv("GOBAN_NVML");
}

}  // namespace
}  // namespace goban::live::engine::local
