#include "core/scheduler/start_forecast.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"

namespace goban::core::scheduler {
namespace {

using base::kSecond;
using model::EventKind;
using model::StartInterval;

constexpr TimeNs kRun_ns = 1000 * kSecond;

/// Two nodes of two GPUs.
struct SmallSite {
  explicit SmallSite(const std::string& policy) : composition(policy::compose(policy).value()) {}

  model::Cluster cluster = model::make_preset("2x2").value();
  knowledge::PmScores scores = knowledge::PmScores::uniform(4);
  knowledge::LocalityPenalties penalties{cluster, 1.0};
  policy::Composition composition;
  policy::RunContext context{};
  policy::SpeedModel speed{&cluster, &scores, &penalties};
  Core core{speed, composition.make(context), context, 1};
  uint32_t submitted = 0;

  /// The forecast is `run_ns`, within `factor`.
  JobId submit(int32_t gpus, TimeNs run_ns, double factor, uint32_t user = 0) {
    model::JobRequest request;
    request.num_gpus = gpus;
    request.user = model::UserId(user);
    const auto scaled = [run_ns](double by) {
      return static_cast<TimeNs>(static_cast<double>(run_ns) * by);
    };
    core.apply(
        {.kind = EventKind::JobSubmitted,
         .job = JobId(submitted),
         .request = &request,
         .forecast = {.p10_ns = scaled(1 / factor), .p50_ns = run_ns, .p90_ns = scaled(factor)}});
    return JobId(submitted++);
  }
  StartForecasts ahead(TimeNs now, const AheadOptions& options = {}) {
    (void)core.decide(now);
    return forecast_starts({.speed = speed, .composition = &composition}, core.image(), now,
                           options);
  }
};

TEST(StartForecast, AJobStartsWhenTheOneBeforeItEnds) {
  SmallSite site("goban");
  site.submit(4, kRun_ns, 1.0001);
  const JobId second = site.submit(4, kRun_ns, 1.0001);
  const JobId third = site.submit(4, 2 * kRun_ns, 1.0001);
  const StartForecasts made = site.ahead(0);
  EXPECT_EQ(made.runs, 20);
  ASSERT_EQ(made.starts.size(), 2U);
  for (const TimeNs at : {made.starts.at(second).p10_ns, made.starts.at(second).p90_ns}) {
    EXPECT_NEAR(base::to_seconds(at), 1000, 60);
  }
  EXPECT_NEAR(base::to_seconds(made.starts.at(third).p50_ns), 2000, 100);
}

TEST(StartForecast, WhatHasPassedCounts) {
  SmallSite site("goban");
  site.submit(4, kRun_ns, 1.0001);
  const JobId second = site.submit(4, kRun_ns, 1.0001);
  (void)site.core.decide(0);
  const StartForecasts made = site.ahead(900 * kSecond);
  EXPECT_NEAR(base::to_seconds(made.starts.at(second).p50_ns), 1000, 70);
}

TEST(StartForecast, WhatARunningJobReportsCounts) {
  SmallSite site("goban");
  const JobId first = site.submit(4, kRun_ns, 1.0001);
  (void)site.core.decide(0);
  const auto ends = [&] { return site.core.state().ends(); };
  EXPECT_NEAR(base::to_seconds(ends().begin()->first), 1000, 1);
  const auto progress = [&](TimeNs at, TimeNs run_ns) {
    site.core.apply({.kind = EventKind::JobProgressed,
                     .at_ns = at,
                     .job = first,
                     .forecast = {run_ns, run_ns, run_ns}});
  };
  progress(500 * kSecond, 3 * kRun_ns);
  ASSERT_EQ(ends().size(), 1U);
  EXPECT_EQ(ends().begin()->first, 3 * kRun_ns);
  const JobId second = site.submit(4, kRun_ns, 1.0001);
  const StartForecasts made = site.ahead(600 * kSecond);
  EXPECT_NEAR(base::to_seconds(made.starts.at(second).p50_ns), 3000, 150);
  site.core.apply({.kind = EventKind::JobFinished, .at_ns = 700 * kSecond, .job = first});
  EXPECT_TRUE(ends().empty());
  progress(701 * kSecond, kRun_ns);  // a late report of a job that has ended
}

TEST(StartForecast, UncertainRunsGiveWideIntervalsAndUsersShareTheirLuck) {
  const auto width = [](bool one_user) {
    SmallSite site("fifo+any");
    for (uint32_t i = 0; i < 60; ++i) site.submit(4, kRun_ns, 4, one_user ? 0 : i);
    const StartInterval last = site.ahead(0, {.runs = 60}).starts.at(JobId(59U));
    return static_cast<double>(last.p90_ns) / static_cast<double>(last.p10_ns);
  };
  EXPECT_GT(width(true), 4);
  EXPECT_LT(width(false), 2.5);
}

TEST(StartForecast, NothingIsInventedWithoutForecastAndLimit) {
  SmallSite site("goban");
  model::JobRequest unknown;
  unknown.stays = true;
  unknown.num_gpus = 4;
  site.core.apply({.kind = EventKind::JobSubmitted, .job = JobId(0U), .request = &unknown});
  site.submitted = 1;
  (void)site.core.decide(0);
  const JobId second = site.submit(4, kRun_ns, 2);
  EXPECT_EQ(site.ahead(0).starts.at(second), StartInterval{});
}

TEST(StartForecast, LimitsBoundRuns) {
  SmallSite site("goban");
  model::JobRequest limited;
  limited.num_gpus = 4;
  limited.walltime_limit_ns = kRun_ns;
  site.core.apply({.kind = EventKind::JobSubmitted, .job = JobId(0U), .request = &limited});
  site.submitted = 1;
  (void)site.core.decide(0);
  const JobId second = site.submit(4, kRun_ns, 2);
  const StartInterval start = site.ahead(0).starts.at(second);
  EXPECT_GT(start.p10_ns, 0);
  EXPECT_LT(start.p10_ns, kRun_ns / 2);
  EXPECT_LE(start.p90_ns, kRun_ns + 20 * kSecond);
}

TEST(StartForecast, AJobThatIsNotSubmitted) {
  SmallSite site("goban");
  site.submit(4, kRun_ns, 1.0001);
  site.submit(4, kRun_ns, 1.0001);
  AheadJob extra;
  extra.request.num_gpus = 1;
  extra.forecast = {kRun_ns, kRun_ns, kRun_ns};
  const StartForecasts made = site.ahead(0, {.extra = extra});
  EXPECT_TRUE(made.starts.empty());
  EXPECT_GE(made.extra.p50_ns, 950 * kSecond);
  EXPECT_EQ(site.core.num_waiting(), 1U) << "it was not submitted";
}

TEST(StartForecast, EqualSeedsGiveEqualForecasts) {
  SmallSite site("goban");
  for (uint32_t i = 0; i < 30; ++i) site.submit(1 + static_cast<int32_t>(i % 4), kRun_ns, 5, i % 3);
  const StartForecasts one = site.ahead(0);
  EXPECT_EQ(one.starts, site.ahead(0).starts);
  EXPECT_NE(one.starts, site.ahead(0, {.seed = 77}).starts);
}

TEST(StartForecast, ItEndsWhenItIsTold) {
  SmallSite site("goban");
  for (uint32_t i = 0; i < 30; ++i) site.submit(4, kRun_ns, 1.0001);
  EXPECT_EQ(site.ahead(0, {.stop = [] { return true; }}).runs, 0);
  const StartForecasts made = site.ahead(0, {.decisions_max = 6});
  EXPECT_NE(made.starts.at(JobId(1U)).p90_ns, base::kNever);
  EXPECT_EQ(made.starts.at(JobId(29U)).p10_ns, base::kNever);
}

}  // namespace
}  // namespace goban::core::scheduler
