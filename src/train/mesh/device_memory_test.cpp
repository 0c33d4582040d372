#include "train/mesh/device_memory.hpp"

#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <optional>

namespace goban::train::mesh {
namespace {

TEST(DeviceMemory, CountsTheTensorsOfTheChargedThread) {
  DeviceMemory memory(0);
  std::optional<at::Tensor> outlives;
  const at::Tensor before = at::ones({1000});
  {
    const DeviceMemory::Charge charge(memory);
    at::Tensor a = at::ones({1000});
    EXPECT_EQ(memory.used_bytes(), 4000);
    outlives = at::ones({10}, at::kDouble);
    EXPECT_EQ(memory.used_bytes(), 4080);
  }
  EXPECT_EQ(memory.used_bytes(), 80);
  EXPECT_EQ(memory.peak_bytes(), 4080);
  const at::Tensor after = at::ones({1000});
  outlives.reset();
  EXPECT_EQ(memory.used_bytes(), 0);
  memory.forget_peak();
  EXPECT_EQ(memory.peak_bytes(), 0);
}

TEST(DeviceMemory, RefusesWhatIsBeyondTheLimitAndGoesOn) {
  DeviceMemory memory(4096);
  const DeviceMemory::Charge charge(memory);
  const at::Tensor a = at::ones({512});
  try {
    (void)at::ones({513});
    FAIL() << "no limit";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("2048 bytes in use, 2052 more requested"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(at::ones({512}).numel(), 512);  // the rejected allocation is not charged
}

TEST(DeviceMemory, TensorsMayOutliveTheirAccount) {
  at::Tensor a;
  {
    DeviceMemory memory(0);
    const DeviceMemory::Charge charge(memory);
    a = at::ones({8});
  }
  EXPECT_EQ(a.sum().item<double>(), 8);
}

}  // namespace
}  // namespace goban::train::mesh
