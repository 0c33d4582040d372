#include "base/nearest.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace goban::base {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 4> known = {"memory", "cores", "gpus", "gpu_model"};
  EXPECT_EQ(nearest_name("memroy", known), "memory");
  EXPECT_EQ(nearest_name("core", known), "cores");
  EXPECT_EQ(nearest_name("gpu", known), "gpus");
  EXPECT_EQ(nearest_name("gpumodel", known), "gpu_model");
  EXPECT_EQ(nearest_name("bandwidth", known), "");
  EXPECT_EQ(nearest_name("", known), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'g'), known), "");
  EXPECT_EQ(nearest_name("gpus", {}), "");
}

}  // namespace
}  // namespace goban::base
