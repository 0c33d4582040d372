// Jobs cannot open GPUs of other jobs. Two of the kernel's harmless devices stand for GPUs.
#include <gtest/gtest.h>

#include "base/gpus/device_numbers.hpp"
#include "live/engine/local/test_runs.hpp"
#include "live/machine/device_fence.hpp"

namespace goban::live::engine::local {
namespace {

constexpr base::gpus::DeviceNumber kFull{.major = 1, .minor = 7};
constexpr base::gpus::DeviceNumber kZero{.major = 1, .minor = 5};

/// With a cgroup of version 2, and with the controller of version 1 only.
class IsolatedRuns : public testing::TestWithParam<const char*> {
 public:
  void SetUp() override {
    runs.options.cgroup_root = GetParam();
    runs.options.isolates = true;
    for (const auto& device : {kFull, kZero}) {
      base::gpus::LocalGpu gpu{.index = static_cast<int32_t>(runs.gpus.size()), .is_virtual = true};
      gpu.devices = {device};
      runs.gpus.push_back(gpu);
    }
    if (const auto can = machine::can_fence_devices(GetParam()); !can) {
      GTEST_SKIP() << can.error().text();
    }
  }
  /// Which of the devices a job with these GPUs can open, and whether it can make one of its own.
  std::string opened(const std::vector<uint32_t>& gpus) {
    auto order = runs.job(++number_,
                          ": < /dev/null && echo null\n"
                          "for device in full zero; do\n"
                          "  (: < /dev/$device) 2> /dev/null && echo $device\ndone\n"
                          "mknod zero c 1 5 2> /dev/null && echo made\n"
                          "rm -f zero; exit 0\n");
    for (const uint32_t gpu : gpus) order.gpus.emplace_back(gpu);
    EXPECT_EQ(runs.run(order).exit_code, 0);
    return text_of(runs.out("goban-" + std::to_string(number_) + ".out"));
  }
  TestRuns runs{"isolation"};

 private:
  uint32_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Cgroups, IsolatedRuns, testing::Values("", "-"), [](const auto& each) {
  return std::string(*each.param == 0 ? "ByProgram" : "ByController");
});

TEST_P(IsolatedRuns, AJobOpensItsOwnGpusOnly) {
  EXPECT_EQ(opened({0}), "null\nfull\n");
  EXPECT_EQ(opened({1}).substr(0, 10), "null\nzero\n");
  EXPECT_EQ(opened({0, 1}).substr(0, 15), "null\nfull\nzero\n");
  EXPECT_EQ(opened({}), "null\n") << "a job without GPUs opens none";
}

TEST_P(IsolatedRuns, ASharedGpuIsOpenToAllWhoShareIt) {
  auto first = runs.job(11, "until [ -e go ]; do sleep 0.01; done\n: < /dev/full && echo full\n");
  auto second = runs.job(12, ": < /dev/full && echo full\n(: < /dev/zero) 2> /dev/null\necho $?\n");
  for (auto* order : {&first, &second}) {
    order->gpus = {core::model::GpuId(0U)};
    order->shares = true;
  }
  runs.engine().launch(first);
  runs.wait_for(first.run, ReportKind::Started);
  EXPECT_EQ(runs.run(second).exit_code, 0);
  EXPECT_EQ(text_of(runs.out("goban-12.out")).substr(0, 5), "full\n");
  EXPECT_NE(text_of(runs.out("goban-12.out")), "full\n0\n");
  std::ofstream(runs.out("go")) << "now";
  EXPECT_EQ(runs.wait_for(first.run, ReportKind::Ended).back().exit_code, 0);
  EXPECT_EQ(text_of(runs.out("goban-11.out")), "full\n");
}

TEST(DeviceFence, WhatIsNoCgroupCannotBeFenced) {
  const auto plain = machine::Cgroup::at("/tmp");
  const auto status = machine::deny_devices(plain, {kFull});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text().find("device program"), std::string::npos);
}

class DeviceFiles : public testing::Test {
 public:
  DeviceFiles() { std::filesystem::remove_all(root); }
  ~DeviceFiles() override { std::filesystem::remove_all(root); }
  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::string root =
      std::filesystem::temp_directory_path() / ("goban_devices_" + std::to_string(::getpid()));
};

using Numbers = std::vector<base::gpus::DeviceNumber>;

TEST_F(DeviceFiles, AGpuHasItsOwnNodeAndThoseForGraphics) {
  EXPECT_EQ(base::gpus::nvidia_devices(3, "00000000:0A:00.0", root), (Numbers{{195, 3}}));
  put("sys/bus/pci/devices/0000:0a:00.0/drm/renderD129/dev", "226:129\n");
  put("sys/bus/pci/devices/0000:0a:00.0/drm/card1/dev", "226:1\n");
  put("sys/bus/pci/devices/0000:0b:00.0/drm/card2/dev", "226:2\n");
  EXPECT_EQ(base::gpus::nvidia_devices(3, "00000000:0A:00.0", root),
            (Numbers{{195, 3}, {226, 1}, {226, 129}}));
}

TEST_F(DeviceFiles, AMigInstanceHasTwoCapabilities) {
  EXPECT_TRUE(base::gpus::mig_devices(0, 1, 0, root).empty());
  put("proc/devices",
      "Character devices:\n  1 mem\n195 nvidia\n237 nvidia-caps\n\nBlock devices:\n");
  put("proc/driver/nvidia-caps/mig-minors",
      "config 1\nmonitor 2\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\ngpu0/gi2/access 21\n"
      "gpu1/gi1/access 147\n");
  EXPECT_EQ(base::gpus::mig_devices(0, 1, 0, root), (Numbers{{237, 12}, {237, 13}}));
  EXPECT_EQ(base::gpus::mig_devices(1, 1, 0, root), (Numbers{{237, 147}}));
}

}  // namespace
}  // namespace goban::live::engine::local
