// The driver's library, with a stand-in that requires no GPU.
#include "base/gpus/nvml.hpp"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>

#include "base/gpus/unit_counters.hpp"
#include "live/engine/local/gpu_meter.hpp"
#include "live/engine/local/test_runs.hpp"

namespace goban::live::engine::local {
namespace {

TEST(Nvml, GpusComeInTheOrderOfTheirPciAddresses) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml) << nvml.error().text();
  EXPECT_EQ((*nvml)->driver_version(), "550.1");
  EXPECT_EQ((*nvml)->firmware("GPU-a"), "96.00.A5.00.01");
  EXPECT_EQ((*nvml)->firmware("GPU-none"), "");
  const auto gpus = (*nvml)->gpus();
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_EQ((*gpus)[0].uuid, "GPU-b");
  EXPECT_EQ((*gpus)[0].index, 0);
  EXPECT_EQ((*gpus)[0].pci, "00000000:08:00.0");
  EXPECT_EQ((*gpus)[1].uuid, "GPU-a");
  EXPECT_EQ((*gpus)[1].name, "NVIDIA H200");
  EXPECT_EQ((*gpus)[1].mem_bytes, int64_t{143} << 30);
  EXPECT_DOUBLE_EQ((*gpus)[1].power_max_w, 700);
  // /dev/nvidia4 and /dev/nvidia5
  EXPECT_EQ((*gpus)[0].devices.front(), (base::gpus::DeviceNumber{195, 4}));
  EXPECT_EQ((*gpus)[1].devices.front(), (base::gpus::DeviceNumber{195, 5}));
}

TEST(Nvml, SlicesStandForTheGpuThatIsCut) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  ::setenv("FAKE_NVML_MIG", "1", 1);
  const auto gpus = (*nvml)->gpus();
  ::unsetenv("FAKE_NVML_MIG");
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->size(), 3U);  // one of the three places for slices is empty
  EXPECT_EQ((*gpus)[0].uuid, "MIG-b0");
  EXPECT_EQ((*gpus)[1].uuid, "MIG-b2");
  EXPECT_EQ((*gpus)[1].mem_bytes, int64_t{18} << 30);
  EXPECT_EQ((*gpus)[1].pci, "00000000:08:00.0");
  EXPECT_EQ((*gpus)[1].devices.front(), (base::gpus::DeviceNumber{195, 4}));
  EXPECT_EQ((*gpus)[1].power_max_w, 0);  // power values are those of the whole GPU
  EXPECT_EQ((*gpus)[2].uuid, "GPU-a");
  EXPECT_EQ((*gpus)[2].index, 2);
}

TEST(Nvml, ReadingsAreMinusOneWhereTheDriverSaysNothing) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const base::gpus::GpuReading reading = (*nvml)->read("GPU-a");
  EXPECT_DOUBLE_EQ(reading.util_pct, 80);
  EXPECT_EQ(reading.mem_used_bytes, int64_t{1} << 30);
  EXPECT_DOUBLE_EQ(reading.temperature_c, -1);
  EXPECT_DOUBLE_EQ((*nvml)->read("GPU-none").util_pct, -1);
}

TEST(Nvml, PowerLimitsStayInTheRangeOfTheGpu) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  ASSERT_TRUE((*nvml)->set_power_limit("GPU-a", 300));
  EXPECT_DOUBLE_EQ((*nvml)->read("GPU-a").power_w, 300);
  EXPECT_DOUBLE_EQ((*nvml)->read("GPU-b").power_w, 700);
  ASSERT_TRUE((*nvml)->set_power_limit("GPU-a", 10));
  EXPECT_DOUBLE_EQ((*nvml)->read("GPU-a").power_w, 200);
  ASSERT_TRUE((*nvml)->set_power_limit("GPU-a", 0));
  EXPECT_DOUBLE_EQ((*nvml)->read("GPU-a").power_w, 700);
  EXPECT_FALSE((*nvml)->set_power_limit("GPU-none", 300));
}

TEST(Nvml, WhatIsMissingIsNamed) {
  const auto missing = base::gpus::NvmlLibrary::load("/no/such/libnvidia-ml.so");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("/no/such/libnvidia-ml.so"), std::string::npos);
  const auto other = base::gpus::NvmlLibrary::load("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text().find("nvmlInit_v2"), std::string::npos);
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  const auto broken = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ::unsetenv("FAKE_NVML_BROKEN");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().text().find("Driver Not Loaded"), std::string::npos);
}

/// The supervisors load the stand-in, too.
class NvmlRuns : public testing::Test {
 public:
  NvmlRuns() {
    ::setenv("GOBAN_NVML", GOBAN_FAKE_NVML, 1);
    ::setenv("FAKE_NVML_PROCESS", runs.out("pid").c_str(), 1);
    runs.gpus = (*base::gpus::NvmlLibrary::load())->gpus().value();
  }
  ~NvmlRuns() override {
    ::unsetenv("GOBAN_NVML");
    ::unsetenv("FAKE_NVML_PROCESS");
  }
  TestRuns runs{"nvml"};
};

TEST_F(NvmlRuns, ARunIsMeasuredByTheDriver) {
  auto order = runs.job(1,
                        "echo $$ > pid\nsleep 1.3\necho "
                        "$CUDA_VISIBLE_DEVICES $GOBAN_GPU_UUIDS\n");
  order.gpus = {core::model::GpuId(1U), core::model::GpuId(0U)};
  const Report report = runs.run(order);
  EXPECT_EQ(text_of(runs.out("goban-1.out")), "1,0 GPU-a,GPU-b\n");
  EXPECT_FLOAT_EQ(report.usage.gpu_util_pct, 60);
  EXPECT_EQ(report.usage.gpu_mem_bytes_max, int64_t{300} << 20);
  // At least two readings after the first of each GPU: a sample, and the end.
  EXPECT_GE(report.usage.energy_j, 2 * 200.0);
  EXPECT_FALSE(report.out_of_memory);
}

TEST_F(NvmlRuns, WhereTheDriverHidesTheMemoryOfProcessesItIsNotEnforced) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  std::ofstream(runs.out("pid")) << "77";
  EXPECT_EQ((*nvml)->memory_of("GPU-a", {77}), int64_t{300} << 20);
  EXPECT_TRUE((*nvml)->gpus()->at(1).memory_enforced);
  ::setenv("FAKE_NVML_HIDES", "1", 1);
  EXPECT_EQ((*nvml)->memory_of("GPU-a", {77}), -1) << "not: nothing";
  EXPECT_FALSE((*nvml)->gpus()->at(1).memory_enforced);
  ::unsetenv("FAKE_NVML_HIDES");
}

TEST_F(NvmlRuns, OfASharedGpuOnlyTheTimeOfItsOwnProcessesIsItsOwn) {
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-a", {77}), 0) << "nobody computes";
  std::ofstream(runs.out("pid")) << "77";
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-a", {77}), 0.25);
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-a", {77, 78}), 0.85);
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-a", {99}), 0);
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-b", {77}), 0);
  EXPECT_DOUBLE_EQ((*nvml)->busy_share("GPU-none", {77}), -1);
  const auto meter = make_gpu_meter({runs.gpus[1]}, RunFolder(""));
  EXPECT_DOUBLE_EQ(meter->busy_s(-1), 0);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    meter->sample({77}, -1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(meter->busy_s(-1), 0.25 * 0.06);
  EXPECT_LT(meter->busy_s(-1), 0.25 * past.count());
}

TEST_F(NvmlRuns, MemoryAndUnitsAreMeasuredOfPeakWhereThereAreCounters) {
  ::setenv("FAKE_NVML_COUNTERS", "1", 1);
  const auto nvml = base::gpus::NvmlLibrary::load(GOBAN_FAKE_NVML);
  ASSERT_TRUE(nvml);
  base::gpus::UnitUse use;
  base::gpus::UnitCounters counters(*nvml, "GPU-a");
  counters.look(0, use);
  EXPECT_EQ(use.dram_pct(), -1) << "nothing is known before the second sample";
  EXPECT_EQ(use.fu_pct(), -1);
  counters.look(1, use);
  EXPECT_DOUBLE_EQ(use.dram_pct(), 30);
  counters.look(3, use);
  EXPECT_DOUBLE_EQ(use.dram_pct(), 45) << "longer spans count more";
  EXPECT_DOUBLE_EQ(use.fu_pct(), 40) << "of the units that were used most";
  for (const char* without : {"GPU-b", "GPU-none", "MIG-b0"}) {
    base::gpus::UnitUse none;
    base::gpus::UnitCounters silent(*nvml, without);
    silent.look(1, none);
    silent.look(1, none);
    EXPECT_EQ(none.fu_pct(), -1) << without;
  }
  ::unsetenv("FAKE_NVML_COUNTERS");
}

TEST_F(NvmlRuns, ARunTellsHowItUsedItsGpu) {
  ::setenv("FAKE_NVML_COUNTERS", "1", 1);
  const auto meter = make_gpu_meter({runs.gpus[1]}, RunFolder(""));
  ::unsetenv("FAKE_NVML_COUNTERS");
  for (int i = 0; i < 3; ++i) meter->sample({}, -1);
  RunUsage usage;
  meter->finish(usage, 1);
  EXPECT_FLOAT_EQ(usage.gpu_util_pct, 80);
  EXPECT_FLOAT_EQ(usage.memory_busy_pct, 10);
  EXPECT_GE(usage.dram_util_pct, 30);
  EXPECT_LE(usage.dram_util_pct, 50);
  EXPECT_FLOAT_EQ(usage.fu_util_pct, 40);
}

TEST_F(NvmlRuns, ANeighbourThatTakesTooMuchOfAGpuIsKilled) {
  auto order = runs.job(1, "echo $$ > pid\nsleep 60\n");
  order.gpus = {core::model::GpuId(1U)};
  order.shares = true;
  order.spec.training.gpu_mem_bytes = int64_t{200} << 20;
  const Report report = runs.run(order);
  EXPECT_TRUE(report.out_of_memory);
  EXPECT_EQ(report.detail, "it used more memory of a GPU than it requested");
}

TEST(GpuMeter, AVirtualGpuIsAsBusyAsItsCores) {
  std::vector<base::gpus::LocalGpu> gpus(2);
  for (int32_t i = 0; i < 2; ++i) {
    base::gpus::LocalGpu& gpu = gpus[static_cast<size_t>(i)];
    gpu.is_virtual = true;
    gpu.cpus = {2 * i, 2 * i + 1};
    gpu.power_idle_w = 50;
    gpu.power_max_w = 250;
  }
  RunUsage usage;
  usage.cpu_s = 20;  // of 4 cores for 10 s
  usage.mem_bytes_max = 1000;
  make_gpu_meter(gpus, RunFolder(""))->finish(usage, 10);
  EXPECT_FLOAT_EQ(usage.gpu_util_pct, 50);
  EXPECT_DOUBLE_EQ(usage.energy_j, 2 * 150 * 10);
  EXPECT_EQ(usage.gpu_mem_bytes_max, 500);
}

}  // namespace
}  // namespace goban::live::engine::local
