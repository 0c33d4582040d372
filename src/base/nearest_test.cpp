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

TEST(Nearest, ProposesNothingFarFetched) {
  constexpr std::array<std::string_view, 4> kCommands = {"top", "run", "queue", "history"};
  EXPECT_EQ(nearest_name("foo", kCommands), "");
  EXPECT_EQ(nearest_name("bar", kCommands), "");
  EXPECT_EQ(nearest_name("tpo", kCommands), "top");
  EXPECT_EQ(nearest_name("quuee", kCommands), "queue");
  EXPECT_EQ(nearest_name("hitsroy", kCommands), "history");
  EXPECT_EQ(nearest_name("hospital", kCommands), "");
}

}  // namespace
}  // namespace goban::base
