// Progress of jobs over time.
#include "serve/daemon/progress_curves.hpp"

#include <gtest/gtest.h>

#include "serve/api/test_scheduler_client.hpp"

namespace goban::serve::daemon {
namespace {

TEST(ProgressCurve, StaysSmallAndKeepsItsEnds) {
  ProgressCurve curve;
  for (int i = 0; i < 100'000; ++i) {
    curve.add({.at_s = static_cast<double>(i), .report = {.step = i, .loss = 1.0 / (1 + i)}});
  }
  EXPECT_LT(curve.points().size(), ProgressCurve::kMost);
  EXPECT_GT(curve.points().size(), ProgressCurve::kMost / 4);
  EXPECT_EQ(curve.points().front().report.step, 0);
  EXPECT_GT(curve.points().back().report.step, 99'000);
  for (size_t i = 1; i < curve.points().size(); ++i) {
    EXPECT_GT(curve.points()[i].at_s, curve.points()[i - 1].at_s);
  }
}

TEST(ProgressCurve, IgnoresWhatIsNotNew) {
  ProgressCurve curve;
  curve.add({.at_s = 1, .report = {.loss = 3}});
  curve.add({.at_s = 1, .report = {.loss = 2}});
  curve.add({.at_s = 2, .report = {.loss = 3}});
  EXPECT_EQ(curve.points().size(), 1U);
}

TEST(ProgressCurves, FollowJobsAndForgetThem) {
  api::TestSchedulerClient scheduler;
  ASSERT_TRUE(scheduler.ask(live::controller::Submit{.jobs = {{}, {}}}));
  ProgressCurves curves(scheduler, base::kHour);
  const auto report = [&](double loss) {
    scheduler.now_ns += base::kSecond;
    scheduler.edit(1, [&](live::controller::LiveJob& job) {
      job.progress.loss = loss;
      job.progress_ns = scheduler.now_ns;
    });
    curves.look();
  };
  report(2.5);
  report(1.5);
  const auto points = curves.of(core::model::JobId(0U));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].report.loss, 2.5);
  EXPECT_EQ(points[1].report.loss, 1.5);
  EXPECT_TRUE(curves.of(core::model::JobId(1U)).empty()) << "it reports nothing";
  scheduler.edit(1, [](live::controller::LiveJob& job) { job.progress_ns = -1; });
  curves.look();
  EXPECT_TRUE(curves.of(core::model::JobId(0U)).empty());
}

}  // namespace
}  // namespace goban::serve::daemon
