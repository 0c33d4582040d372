#include "core/knowledge/gpu_busy.hpp"

#include <gtest/gtest.h>

namespace goban::core::knowledge {
namespace {

TEST(GpuBusy, IsTheShareOfComputing) {
  base::reports::JobProfile profile;
  EXPECT_FALSE(gpu_busy_pct(profile));
  profile.utilisation_pct = base::reports::Measured{70, 0};
  EXPECT_FALSE(gpu_busy_pct(profile)) << "a profile of an older release says nothing new";
  profile.time_pct = {{"input", 60}, {"compute", 25}, {"evaluation", 5}, {"other", 10}};
  EXPECT_EQ(gpu_busy_pct(profile), 70) << "what was measured counts";
  profile.utilisation_pct.reset();
  EXPECT_EQ(gpu_busy_pct(profile), 30);
  profile.time_pct = {{"compute", 98}, {"evaluation", 5}};
  EXPECT_EQ(gpu_busy_pct(profile), 100);
}

}  // namespace
}  // namespace goban::core::knowledge
