#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "live/machine/block_process.hpp"
#include "live/machine/cpu_kernels.hpp"
#include "live/machine/cuda_kernels.hpp"

namespace goban::live::machine {
namespace {

using core::knowledge::Kernel;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

const std::atomic<bool> kNever = false;

struct Variable {
  const char* name;
  Variable(const char* variable, const std::string& value) : name(variable) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name); }
};

BlockOptions options_of(std::vector<std::string> program) {
  return {.program = std::move(program), .runs = 2, .timeout_s = 30};
}
BlockOptions goban() { return options_of({GOBAN_BINARY_DIR "/bin/goban", "measure-block"}); }
BlockOptions shell(const std::string& script) { return options_of({"/bin/sh", "-c", script}); }

base::gpus::LocalGpu virtual_gpu(double slowness = 1) {
  return {.uuid = "VIRTUAL-0", .is_virtual = true, .cpus = {0}, .slowness = slowness};
}

std::string problem_of(const base::Result<KernelRuns>& result) {
  return result ? "no problem" : result.error().text();
}

TEST(CpuKernels, DoWorkOnTheCoresGiven) {
  const auto runs = run_cpu_kernels({0}, 1, 3);
  ASSERT_TRUE(runs) << runs.error().text();
  for (const auto& times : *runs) {
    EXPECT_THAT(times, SizeIs(3));
    EXPECT_THAT(times, Each(Gt(1e-4)));
  }
}

TEST(CpuKernels, InjectedSlownessIsMoreWork) {
  // The fastest of several, as other processes may use the core.
  const auto fastest = [](double slowness) {
    return std::ranges::min((*run_cpu_kernels({0}, slowness, 6))[0]);
  };
  EXPECT_GT(fastest(3) / fastest(1), 1.5);
}

TEST(CpuKernels, ACoreThatIsNotThereIsNamed) {
  EXPECT_THAT(problem_of(run_cpu_kernels({1023}, 1, 1)), HasSubstr("core 1023"));
}

TEST(KernelRuns, ReadBackAsWritten) {
  const KernelRuns runs{{{0.25, 0.5}, {1.0 / 3}, {2}}};
  EXPECT_EQ(*parse_runs(to_text(runs)), runs);
  for (const char* text : {"", "compute 1\n", "compute 0\nmixed 1\nmemory 1\n", "walk 1\n",
                           "compute 1\nmixed 1\nmemory x\n", "compute 1\nmixed 1\nmemory\n"}) {
    EXPECT_FALSE(parse_runs(text)) << text;
  }
}

TEST(BlockProcess, MeasuresAVirtualGpu) {
  const auto runs = run_block(virtual_gpu(), goban(), kNever);
  ASSERT_TRUE(runs) << runs.error().text();
  for (const auto& times : *runs) EXPECT_THAT(times, SizeIs(2));
}

TEST(BlockProcess, SaysWhatWentWrong) {
  const auto problem = [](const BlockOptions& options) {
    return problem_of(run_block(virtual_gpu(), options, kNever));
  };
  EXPECT_THAT(problem(options_of({"/nowhere"})), HasSubstr("cannot start /nowhere"));
  EXPECT_THAT(problem(shell("kill -KILL $$")), HasSubstr("were killed by signal 9"));
  EXPECT_THAT(problem(shell("echo no luck >&2; exit 1")), HasSubstr("no luck"));
  EXPECT_THAT(problem(shell("echo nonsense")),
              HasSubstr("'nonsense' is not a line of kernel times"));
  BlockOptions slow = shell("exec sleep 60");
  slow.timeout_s = 0.3;
  EXPECT_THAT(problem(slow), HasSubstr("took longer than 0.3 s"));
  const std::atomic<bool> stopped = true;
  EXPECT_THAT(problem_of(run_block(virtual_gpu(), shell("exec sleep 60"), stopped)),
              HasSubstr("interrupted"));
}

/// The stand-in for CUDA's driver, set by its path in the environment.
struct FakeCuda : testing::Test {
  Variable path{"GOBAN_CUDA", GOBAN_FAKE_CUDA};
  base::gpus::LocalGpu gpu{.uuid = "GPU-a"};
};

TEST_F(FakeCuda, LaunchesTheKernelsAndTakesTheirTime) {
  const auto driver = CudaDriver::load();
  ASSERT_TRUE(driver) << driver.error().text();
  const auto runs = run_cuda_kernels(**driver, 3);
  ASSERT_TRUE(runs) << runs.error().text();
  // The stand-in reports 1 ms per launch.
  EXPECT_THAT((*runs)[static_cast<size_t>(Kernel::Compute)],
              testing::ElementsAre(1e-3, 1e-3, 1e-3));
  EXPECT_NEAR((*runs)[static_cast<size_t>(Kernel::Memory)][0], 0.128, 1e-6);
  EXPECT_NEAR((*runs)[static_cast<size_t>(Kernel::Mixed)][0], 0.064, 1e-6);
}

TEST_F(FakeCuda, TheProcessSeesItsGpuAlone) {
  const Variable slow("FAKE_CUDA_SLOW", "GPU-a");
  const Variable others("CUDA_VISIBLE_DEVICES", "GPU-b");
  const auto runs = run_block(gpu, goban(), kNever);
  ASSERT_TRUE(runs) << runs.error().text();
  EXPECT_NEAR((*runs)[0][0], 2e-3, 1e-9);
}

TEST_F(FakeCuda, ACrashOfTheDriverIsAMessage) {
  const Variable crash("FAKE_CUDA_CRASH", "1");
  EXPECT_THAT(problem_of(run_block(gpu, goban(), kNever)), HasSubstr("were killed by signal 9"));
}

TEST_F(FakeCuda, WhatFailsIsNamed) {
  for (const char* function : {"cuInit", "cuModuleLoadData"}) {
    const Variable fail("FAKE_CUDA_FAIL", function);
    EXPECT_THAT(problem_of(run_block(gpu, goban(), kNever)), HasSubstr(function));
  }
  const Variable fail("FAKE_CUDA_FAIL", "cuLaunchKernel");
  EXPECT_THAT(problem_of(run_block(gpu, goban(), kNever)),
              HasSubstr("goban_compute: invalid argument (code 1)"));
}

TEST(CudaDriver, ALibraryThatIsNotThereIsNamed) {
  EXPECT_THAT(CudaDriver::load("/nowhere/libcuda.so").error().text(), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace goban::live::machine
