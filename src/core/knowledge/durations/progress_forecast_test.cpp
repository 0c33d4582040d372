#include "core/knowledge/durations/progress_forecast.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace goban::core::knowledge {
namespace {

using base::kHour;
using base::kMinute;

TEST(ProgressForecast, WhatIsLeftTakesAsLongInProportion) {
  const auto quarter = forecast_from_progress({.share = 0.25, .attained_ns = kHour}, 0);
  EXPECT_EQ(quarter.p50_ns, 4 * kHour);
  EXPECT_EQ(quarter.p10_ns, kHour + 3 * kHour * 4 / 5);
  EXPECT_EQ(quarter.p90_ns, kHour + 3 * kHour * 5 / 4 + kMinute);
  const auto done = forecast_from_progress({.share = 1.5, .attained_ns = kHour}, 0);
  EXPECT_EQ(done.p50_ns, kHour);
  EXPECT_EQ(done.p90_ns, kHour + kMinute);
}

TEST(ProgressForecast, NeverExpectsMoreThanTheLimit) {
  const auto cut = forecast_from_progress({.share = 0.25, .attained_ns = kHour}, 3 * kHour);
  EXPECT_EQ(cut.p50_ns, 3 * kHour);
  EXPECT_EQ(cut.p90_ns, 3 * kHour);
  const auto beyond = forecast_from_progress({.share = 0.25, .attained_ns = 4 * kHour}, 3 * kHour);
  EXPECT_EQ(beyond.p90_ns, 4 * kHour);
}

TEST(ProgressForecast, SaysNothingOfTheFirstSteps) {
  EXPECT_FALSE(forecast_from_progress({.share = 0.04, .attained_ns = kHour}, 0).known());
  EXPECT_FALSE(forecast_from_progress({.share = 0.5, .attained_ns = kMinute - 1}, 0).known());
  EXPECT_FALSE(forecast_from_progress({.share = -1, .attained_ns = kHour}, 0).known());
  EXPECT_FALSE(forecast_from_progress({.share = NAN, .attained_ns = kHour}, 0).known());
}

}  // namespace
}  // namespace goban::core::knowledge
