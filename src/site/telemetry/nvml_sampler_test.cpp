// Sampling by NVIDIA's management library, with a stub loaded in its place.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/telemetry/gpu_sampler.hpp"

namespace goban::site::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NvmlSampling : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("GOBAN_NVML", GOBAN_FAKE_NVML, 1); }
  void TearDown() override {
    for (const char* name : {"GOBAN_NVML", "FAKE_NVML_MIG", "FAKE_NVML_HANGS"}) ::unsetenv(name);
  }
};

TEST_F(NvmlSampling, TheLibraryIsAskedFirst) {
  GpuSampler sampler({.program = {}, .timeout_s = 10});
  const Sampling sampling = sampler.sample();
  EXPECT_EQ(sampling.problem, "");
  ASSERT_EQ(sampling.gpus.size(), 2U);
  const std::string page = metrics_page(sampling);
  for (const char* line :
       {"goban_gpu_utilization_percent{gpu=\"0\",uuid=\"GPU-a\"} 80\n",
        "goban_gpu_memory_used_bytes{gpu=\"0\",uuid=\"GPU-a\"} 1073741824\n",
        "goban_gpu_power_watts{gpu=\"1\",uuid=\"GPU-b\"} 700\n",
        "goban_gpu_sm_clock_hertz{gpu=\"0\",uuid=\"GPU-a\"} 1.98e+09\n",
        "goban_gpu_processes{gpu=\"0\",uuid=\"GPU-a\"} 0\n",
        // The stub has no temperature, and its second GPU no clocks.
        "goban_gpu_not_available{gpu=\"0\",uuid=\"GPU-a\",metric=\"gpu_temperature\"} 1\n",
        "goban_gpu_not_available{gpu=\"1\",uuid=\"GPU-b\",metric=\"gpu_sm_clock\"} 1\n",
        "goban_gpu_collect_success 1\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST_F(NvmlSampling, AGpuThatIsCutHasNoUtilisation) {
  ::setenv("FAKE_NVML_MIG", "1", 1);
  GpuSampler sampler({.program = {}, .timeout_s = 10});
  const Sampling sampling = sampler.sample();
  ASSERT_EQ(sampling.gpus.size(), 2U);
  EXPECT_FALSE(sampling.gpus[0].mig);
  EXPECT_TRUE(sampling.gpus[1].mig);
  EXPECT_FALSE(sampling.gpus[1].processes);
  EXPECT_THAT(metrics_page(sampling),
              HasSubstr("{gpu=\"1\",uuid=\"GPU-b\",metric=\"gpu_utilization\"} 1\n"));
}

TEST_F(NvmlSampling, ADriverThatHangsCostsTheSamplingOnly) {
  ::setenv("FAKE_NVML_HANGS", "1", 1);
  GpuSampler sampler({.program = {}, .timeout_s = 0.2});
  const Sampling hung = sampler.sample();
  EXPECT_EQ(hung.problem, "NVIDIA's driver did not answer within 0.2 s");
  EXPECT_TRUE(hung.gpus.empty());
  EXPECT_THAT(metrics_page(hung), HasSubstr("goban_gpu_collect_success 0\n"));
  ::unsetenv("FAKE_NVML_HANGS");
  Sampling later;
  for (int i = 0; i < 100; ++i) {
    later = sampler.sample();
    if (later.problem.empty()) break;
  }
  EXPECT_EQ(later.problem, "");
  EXPECT_EQ(later.gpus.size(), 2U);
}

TEST_F(NvmlSampling, AProgramThatWasNamedIsAsked) {
  GpuSampler sampler({.program = "/nowhere/nvidia-smi", .timeout_s = 1});
  EXPECT_THAT(sampler.sample().problem, HasSubstr("cannot run"));
}

TEST_F(NvmlSampling, WithoutTheLibraryNvidiaSmiIsAsked) {
  ::setenv("GOBAN_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  GpuSampler sampler({.program = {}, .timeout_s = 1});
  EXPECT_THAT(sampler.sample().problem, HasSubstr("nvidia-smi"));
}

}  // namespace
}  // namespace goban::site::telemetry
