#include "base/nearest.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace goban::base {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 4> kKnown = {"memory", "cores", "gpus", "gpu_model"};
  EXPECT_EQ(nearest_name("memroy", kKnown), "memory");
  EXPECT_EQ(nearest_name("core", kKnown), "cores");
  EXPECT_EQ(nearest_name("gpu", kKnown), "gpus");
  EXPECT_EQ(nearest_name("gpumodel", kKnown), "gpu_model");
  EXPECT_EQ(nearest_name("bandwidth", kKnown), "");
  EXPECT_EQ(nearest_name("", kKnown), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'g'), kKnown), "");
  EXPECT_EQ(nearest_name("gpus", {}), "");
}

}  // namespace
}  // namespace goban::base
