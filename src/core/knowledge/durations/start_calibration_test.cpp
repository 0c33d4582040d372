#include "core/knowledge/durations/start_calibration.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

using base::kSecond;

StartForecastAt raw_hour(base::TimeNs made_ns) {
  return {.made_ns = made_ns,
          .interval = {.p10_ns = made_ns + 3000 * kSecond,
                       .p50_ns = made_ns + 3600 * kSecond,
                       .p90_ns = made_ns + 4000 * kSecond}};
}

/// A job that gets this forecast now starts at `start_ns`.
void learn(StartCalibration& calibration, StartForecastAt raw, base::TimeNs start_ns) {
  raw.moved = calibration.moved(raw);
  calibration.learn(raw, start_ns);
}

TEST(StartCalibration, FewStartsChangeNothing) {
  StartCalibration calibration;
  for (int i = 0; i < 19; ++i) learn(calibration, raw_hour(0), 9000 * kSecond);
  EXPECT_EQ(calibration.calibrated(raw_hour(5)).p90_ns, raw_hour(5).interval.p90_ns);
}

TEST(StartCalibration, IntervalsCoverFourFifthsOfWhatFollows) {
  StartCalibration calibration;
  base::Random random(5);
  int inside = 0;
  int judged = 0;
  for (int i = 0; i < 3000; ++i) {
    const base::TimeNs made_ns = i * 100 * kSecond;
    // Up to eight times later than forecast.
    const double wait_s = 1800 * std::exp(2.8 * random.uniform());
    const base::TimeNs start_ns = made_ns + base::from_seconds(wait_s);
    const model::StartInterval shown = calibration.calibrated(raw_hour(made_ns));
    if (i >= 200) {
      ++judged;
      if (start_ns >= shown.p10_ns && start_ns <= shown.p90_ns) ++inside;
      EXPECT_LE(shown.p10_ns, shown.p50_ns);
      EXPECT_LE(shown.p50_ns, shown.p90_ns);
    }
    learn(calibration, raw_hour(made_ns), start_ns);
  }
  EXPECT_NEAR(static_cast<double>(inside) / judged, 0.8, 0.03);
}

TEST(StartCalibration, JobsThatAreOverdueCountBeforeTheyStart) {
  StartCalibration calibration;
  for (int i = 0; i < 40; ++i) learn(calibration, raw_hour(0), (3500 + i % 5 * 50) * kSecond);
  const base::TimeNs now = 36'000 * kSecond;
  const std::vector<StartForecastAt> waiting(20, raw_hour(0));
  EXPECT_LT(calibration.calibrated(raw_hour(now)).p90_ns, now + 4001 * kSecond);
  EXPECT_GT(calibration.with_overdue(waiting, now).calibrated(raw_hour(now)).p90_ns,
            now + 30'000 * kSecond);
  const StartCalibration early = calibration.with_overdue(waiting, 3000 * kSecond);
  EXPECT_EQ(early.known(), calibration.known());
}

TEST(StartCalibration, WhatIsBeyondStaysBeyond) {
  StartCalibration calibration;
  StartForecastAt open = raw_hour(0);
  open.interval.p90_ns = base::kNever;
  for (int i = 0; i < 50; ++i) learn(calibration, open, 9000 * kSecond);
  EXPECT_EQ(calibration.calibrated(open).p90_ns, base::kNever);
  EXPECT_NEAR(base::to_seconds(calibration.calibrated(open).p50_ns), 9000, 1);
}

}  // namespace
}  // namespace goban::core::knowledge
