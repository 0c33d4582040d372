#include "base/statistics/mean_interval.hpp"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace goban::base::statistics {
namespace {

TEST(MeanInterval, IsThatOfStudent) {
  // scipy.stats.t.interval(0.95, 2, mean, sem) of 1, 2, 4.
  const auto three = mean_interval_95(std::array{1.0, 2.0, 4.0});
  ASSERT_TRUE(three);
  EXPECT_DOUBLE_EQ(three->mean, 7.0 / 3);
  EXPECT_NEAR(three->half_width, 3.7946, 1e-3);
  std::vector<double> many(1000, 0.0);
  for (size_t i = 0; i < many.size(); i += 2) many[i] = 1;
  EXPECT_NEAR(mean_interval_95(many)->half_width, 1.96 * 0.5 / std::sqrt(1000), 2e-4);
  EXPECT_TRUE(std::isinf(mean_interval_95(std::array{5.0})->half_width));
  EXPECT_FALSE(mean_interval_95({}));
}

}  // namespace
}  // namespace goban::base::statistics
