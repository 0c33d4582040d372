// A job whose process hangs before its script runs, as on a file system that does not answer, obeys
// cancel and limit. Here a lease of this process delays the opening of the interpreter by a minute.
#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>

#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

using testing::HasSubstr;

/// A program that nobody can open or run for /proc/sys/fs/lease-break-time (45 s).
class SlowProgram {
 public:
  SlowProgram() {
    ::signal(SIGIO, SIG_IGN);  // sent to the holder of a lease that is to be broken
    char pattern[] = "/tmp/goban_slow_XXXXXX";
    folder_ = ::mkdtemp(pattern);
    std::filesystem::copy_file("/bin/sh", path());
    file_.reset(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    held_ = ::fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0;
  }
  ~SlowProgram() {
    file_.reset();
    ::signal(SIGIO, SIG_DFL);
    std::filesystem::remove_all(folder_);
  }
  SlowProgram(const SlowProgram&) = delete;
  SlowProgram& operator=(const SlowProgram&) = delete;
  [[nodiscard]] std::string path() const { return folder_ + "/sh"; }
  [[nodiscard]] bool is_slow() const { return held_; }
  /// From now on it runs at once.
  void release() { file_.reset(); }

 private:
  std::string folder_{};
  base::Descriptor file_{};
  bool held_ = false;
};

struct HangingStart : testing::Test {
  void SetUp() override {
    if (!program.is_slow()) GTEST_SKIP() << "/tmp has no leases";
  }
  [[nodiscard]] LaunchOrder job() const {
    return runs.job(1, "#!" + program.path() + "\necho up > up\n");
  }
  /// The supervisor has taken the order; its child hangs, or will soon.
  [[nodiscard]] bool is_starting(const LaunchOrder& order) const {
    return wait_until([&] { return runs.folder(order).stage() == RunStage::Running; });
  }
  SlowProgram program;
  TestRuns runs{"hanging_start"};
};

TEST_F(HangingStart, ACancelEndsIt) {
  const auto order = job();
  runs.engine().launch(order);
  ASSERT_TRUE(is_starting(order));
  ::usleep(300'000);
  EXPECT_FALSE(base::exists(runs.folder(order).file("running"))) << "it has not begun";
  runs.engine().stop(order.run, StopReason::Cancelled);
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_EQ(end.kind, ReportKind::Ended) << end.detail;
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_THAT(end.detail, HasSubstr("stopped before it began"));
  EXPECT_THAT(end.detail, HasSubstr("running its interpreter '" + program.path()));
  EXPECT_EQ(text_of(runs.out("up")), "");
}

TEST_F(HangingStart, ItsLimitEndsIt) {
  auto order = job();
  order.limit_ns = base::kSecond;
  runs.engine().launch(order);
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_EQ(end.kind, ReportKind::Ended) << end.detail;
  EXPECT_TRUE(end.limited);
  EXPECT_GE(end.ran_ns, base::kSecond);
}

TEST_F(HangingStart, WhatItsSupervisorUsesIsNotItsMemory) {
  base::gpus::LocalGpu& gpu = runs.gpus.emplace_back();
  gpu.is_virtual = true;
  gpu.cpus = {0};
  auto order = job();
  order.gpus = {core::model::GpuId(0U)};
  order.shares = true;
  order.spec.training.gpu_mem_bytes = int64_t{1} << 20;
  runs.engine().launch(order);
  ASSERT_TRUE(is_starting(order));
  ::usleep(500'000);
  program.release();
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_FALSE(end.out_of_memory) << end.detail;
  EXPECT_EQ(text_of(runs.out("up")), "up\n");
}

TEST_F(HangingStart, ItBeginsWhenItCan) {
  const auto order = job();
  runs.engine().launch(order);
  ASSERT_TRUE(is_starting(order));
  ::usleep(300'000);
  program.release();
  const Report end = runs.wait_for(order.run, ReportKind::Ended).back();
  EXPECT_EQ(end.kind, ReportKind::Ended) << end.detail;
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(text_of(runs.out("up")), "up\n");
}

}  // namespace
}  // namespace goban::live::engine::local
