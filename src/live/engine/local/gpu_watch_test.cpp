#include "live/engine/local/gpu_watch.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "live/engine/local/test_runs.hpp"
#include "live/machine/process_tree.hpp"

namespace goban::live::engine::local {
namespace {

base::TimeNs now_ns() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// An endless process that computes or sleeps.
class Child {
 public:
  explicit Child(bool computes) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::atomic<uint64_t> turns = 0;
    while (true) {
      if (!computes) ::pause();
      ++turns;
    }
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  pid_t pid_;
};

struct GpuWatchTest : testing::Test {
  /// Writes a running note with this process as the run's supervisor.
  void begin(RunId begun, base::TimeNs started_ns) {
    const RunFolder folder(runs.state(), begun);
    std::filesystem::create_directories(folder.path());
    RunningNote note;
    note.supervisor_pid = ::getpid();
    note.started_ns = started_ns;
    ASSERT_TRUE(base::replace_file(folder.path(), "running", to_text(note), base::Durable::No));
  }
  static base::gpus::LocalGpu virtual_gpu(int32_t index) {
    base::gpus::LocalGpu gpu;
    gpu.index = index;
    gpu.is_virtual = true;
    gpu.cpus = {index};
    return gpu;
  }

  TestRuns runs{"gpu_watch"};
  const RunId run{core::model::JobId(0U), 1};
};

TEST_F(GpuWatchTest, AFreeVirtualGpuIsIdle) {
  GpuWatch watch(runs.state(), {virtual_gpu(0)});
  const auto now = watch.read({}, now_ns());
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now[0].util_pct, 0);
  EXPECT_EQ(now[0].mem_used_bytes, 0);
  EXPECT_EQ(now[0].power_w, -1) << "no power model, no watts";
  EXPECT_EQ(now[0].temperature_c, -1);
}

TEST_F(GpuWatchTest, ARunIsMeasuredByItsCpuTime) {
  GpuWatch watch(runs.state(), {virtual_gpu(0), virtual_gpu(1), virtual_gpu(2)});
  const std::vector<HoldingRun> held = {{.run = run, .gpus = {GpuId(0U), GpuId(2U)}}};
  begin(run, now_ns());
  const Child busy(true);
  static_cast<void>(watch.read(held, now_ns()));
  const double before_s = machine::tree_cpu_s(::getpid());
  ASSERT_TRUE(wait_until([&] { return machine::tree_cpu_s(::getpid()) > before_s + 0.2; }));
  // As if five seconds had passed: 0.2 s or more of 10 s on two cores.
  const auto now = watch.read(held, now_ns() + 5 * base::kSecond);
  EXPECT_GT(now[0].util_pct, 1.5);
  EXPECT_LT(now[0].util_pct, 60);
  EXPECT_EQ(now[0].util_pct, now[2].util_pct);
  EXPECT_GT(now[0].mem_used_bytes, 0);
  EXPECT_EQ(now[1].util_pct, 0) << "it holds others";
}

TEST_F(GpuWatchTest, ARunThatSleepsIsIdleAndTwoAddUp) {
  GpuWatch watch(runs.state(), {virtual_gpu(0)});
  const Child asleep(false);
  const RunId other{core::model::JobId(1U), 1};
  begin(run, now_ns());
  begin(other, now_ns());
  const std::vector<HoldingRun> held = {{.run = run, .gpus = {GpuId(0U)}},
                                        {.run = other, .gpus = {GpuId(0U)}}};
  const int64_t one = watch.read({held[0]}, now_ns())[0].mem_used_bytes;
  const auto now = watch.read(held, now_ns() + 1000 * base::kSecond);
  EXPECT_LT(now[0].util_pct, 5);
  EXPECT_GT(now[0].mem_used_bytes, one) << "that of both";
}

TEST_F(GpuWatchTest, ARunThatNobodyKnowsIsNothing) {
  GpuWatch watch(runs.state(), {virtual_gpu(0)});
  const auto now = watch.read({{.run = run, .gpus = {GpuId(0U), GpuId(7U)}}}, now_ns());
  EXPECT_EQ(now[0].util_pct, 0);
}

TEST(VirtualPower, FollowsTheModel) {
  base::gpus::LocalGpu gpu;
  EXPECT_EQ(virtual_power_w(gpu, 0.5), -1);
  gpu.power_idle_w = 30;
  gpu.power_max_w = 230;
  EXPECT_EQ(virtual_power_w(gpu, 0), 30);
  EXPECT_EQ(virtual_power_w(gpu, 0.25), 80);
  EXPECT_EQ(virtual_power_w(gpu, 2), 230);
  gpu.power_exponent = 0.5;
  EXPECT_EQ(virtual_power_w(gpu, 0.25), 130);
}

}  // namespace
}  // namespace goban::live::engine::local
