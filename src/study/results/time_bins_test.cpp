#include "study/results/time_bins.hpp"

#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

TimeNs s(double seconds) { return base::from_seconds(seconds); }

TEST(TimeBins, AverageOverTheirTime) {
  TimeBins bins(2, 10, s(100));
  bins.add(0, s(100), s(101.5), 4);
  bins.add(1, s(101), s(102), 2);
  EXPECT_EQ(bins.width_ns(), s(1));
  EXPECT_EQ(bins.bins_until(s(101.5)), 2U);
  EXPECT_EQ(bins.bins_until(s(102)), 2U);
  EXPECT_EQ(bins.bins_until(s(100)), 0U);
  EXPECT_EQ(bins.mean(0, 0, s(102)), 4);
  EXPECT_EQ(bins.mean(0, 1, s(102)), 2);
  EXPECT_EQ(bins.mean(0, 1, s(101.5)), 4) << "only the time before the end counts";
  EXPECT_EQ(bins.mean(1, 0, s(102)), 0);
  EXPECT_EQ(bins.mean(1, 1, s(102)), 2);
}

TEST(TimeBins, LeaveOutTheTimeBeforeTheirOrigin) {
  TimeBins bins(1, 4, s(10));
  bins.add(0, s(0), s(11), 3);
  bins.add(0, s(2), s(5), 100);
  EXPECT_EQ(bins.mean(0, 0, s(11)), 3);
}

TEST(TimeBins, MergeToWidthsThatDivideEachOther) {
  TimeBins bins(1, 10, 0);
  for (int i = 0; i < 10; ++i) bins.add(0, s(i), s(i + 1), i);
  EXPECT_EQ(bins.width_ns(), s(1));
  bins.add(0, s(19), s(20), 20);
  EXPECT_EQ(bins.width_ns(), s(2));
  EXPECT_EQ(bins.mean(0, 4, s(20)), 8.5);
  bins.add(0, s(20), s(21), 1);
  EXPECT_EQ(bins.width_ns(), s(10));
  EXPECT_EQ(bins.mean(0, 0, s(21)), 4.5);
  EXPECT_EQ(bins.mean(0, 1, s(21)), 2);
  bins.widen(s(61));
  EXPECT_EQ(bins.width_ns(), s(120));
  EXPECT_DOUBLE_EQ(bins.mean(0, 0, s(21)), (45.0 + 20 + 1) / 21);
}

TEST(TimeBins, HoldAnyTimeSpanInBoundedRoom) {
  TimeBins bins(1, 100, 0);
  const TimeNs century = s(100 * 365.25 * 86400);
  bins.add(0, 0, century, 7);
  EXPECT_LE(bins.bins_until(century), 100U);
  for (size_t bin = 0; bin < bins.bins_until(century); ++bin) {
    EXPECT_NEAR(bins.mean(0, bin, century), 7, 1e-9);
  }
}

}  // namespace
}  // namespace goban::study::results
