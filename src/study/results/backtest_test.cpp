#include "study/results/backtest.hpp"

#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

constexpr double kDay_s = 86'400;

/// A record and a run of it, job by job.
struct Case {
  core::model::JobHistory history;
  simulator::SimulationResult result;

  /// Times in seconds; the waits are those of record and run; start_s < 0: no recorded start.
  void add(double submit_s, double recorded_wait_s, double simulated_wait_s, double work_s = 100) {
    core::model::Job job;
    job.request.submit_ns = base::from_seconds(submit_s);
    job.request.num_gpus = 1;
    job.work_s = work_s;
    history.jobs.push_back(job);
    core::model::Recorded recorded;
    if (recorded_wait_s >= 0) recorded.start_ns = base::from_seconds(submit_s + recorded_wait_s);
    history.recorded.push_back(recorded);
    simulator::JobOutcome outcome;
    outcome.start_ns = base::from_seconds(submit_s + simulated_wait_s);
    outcome.finish_ns = base::from_seconds(submit_s + simulated_wait_s + work_s);
    outcome.held_ns = base::from_seconds(work_s);
    outcome.end = simulator::JobEnd::Finished;
    result.outcomes.push_back(outcome);
  }
  [[nodiscard]] Backtest run(BacktestOptions options = {}) const {
    return backtest("site", history, result, options);
  }
};

TEST(Backtest, MeasuresFollowTheirDefinitions) {
  Case c;
  c.add(0, 100, 160);    // +60, within a minute, not within 10 %
  c.add(10, 1000, 900);  // -100, within 10 %
  c.add(20, 0, 0);       // exact
  c.add(30, 300, 700);   // +400
  c.add(40, -1, 50);     // not compared
  const Backtest test = c.run();
  EXPECT_EQ(test.policy, "site");
  EXPECT_EQ(test.jobs, 4);
  EXPECT_EQ(test.without_start, 1);
  EXPECT_EQ(test.in_warmup, 0);
  EXPECT_EQ(test.days, 1);
  EXPECT_DOUBLE_EQ(test.wait.recorded_s, 1400.0 / 4);
  EXPECT_DOUBLE_EQ(test.wait.simulated_s, 1760.0 / 4);
  EXPECT_DOUBLE_EQ(*test.wait.relative, 360.0 / 1400);
  EXPECT_DOUBLE_EQ(*test.jct.relative, 360.0 / 1800);
  EXPECT_DOUBLE_EQ(test.error_abs_mean_s, 560.0 / 4);
  EXPECT_DOUBLE_EQ(test.error_abs_p50_s, 80);
  EXPECT_DOUBLE_EQ(test.error_abs_p90_s, 100 + 0.7 * 300);
  EXPECT_DOUBLE_EQ(test.error_mean_s, 360.0 / 4);
  EXPECT_DOUBLE_EQ(test.within_1min, 0.5);
  EXPECT_DOUBLE_EQ(test.within_5min, 0.75);
  EXPECT_DOUBLE_EQ(test.within_10percent, 0.5);
  // Ranks 1 3 0 2 and 1 3 0 2.
  EXPECT_DOUBLE_EQ(*test.rank_correlation, 1.0);
}

TEST(Backtest, TiesShareTheirRank) {
  Case c;
  c.add(0, 10, 5);
  c.add(1, 10, 6);
  c.add(2, 20, 5);
  // Ranks 0.5 0.5 2 and 0.5 2 0.5: covariance -0.75 over variance 1.5.
  EXPECT_DOUBLE_EQ(*c.run().rank_correlation, -0.5);
  Case equal;
  equal.add(0, 10, 5);
  equal.add(1, 10, 6);
  EXPECT_FALSE(equal.run().rank_correlation);
}

TEST(Backtest, RecordedFinishCountsWhereItIsKnown) {
  Case c;
  c.add(0, 0, 0, 100);
  c.history.recorded[0].finish_ns = base::from_seconds(200);
  const Backtest test = c.run();
  EXPECT_EQ(test.jct.recorded_s, 200);
  EXPECT_EQ(test.jct.simulated_s, 100);
  EXPECT_EQ(*test.jct.relative, -0.5);
}

TEST(Backtest, TheWarmupIsLeftOut) {
  Case c;
  c.add(50, 0, 1000);
  c.add(149, 0, 1000);
  c.add(150, 10, 10);
  const Backtest test = c.run({.warmup_ns = base::from_seconds(100)});
  EXPECT_EQ(test.in_warmup, 2);
  EXPECT_EQ(test.jobs, 1);
  EXPECT_EQ(test.error_abs_mean_s, 0);
}

TEST(Backtest, AZeroErrorHasAZeroInterval) {
  Case c;
  for (int day = 0; day < 20; ++day) c.add(day * kDay_s, day * 10.0, day * 10.0);
  const Backtest test = c.run();
  EXPECT_EQ(test.days, 20);
  EXPECT_EQ(*test.jct.bound(), 0);
  EXPECT_EQ(*test.wait.low, 0);
  EXPECT_EQ(*test.wait.high, 0);
  EXPECT_EQ(test.within_10percent, 1);
}

TEST(Backtest, WholeDaysAreDrawnAndTheSeedDecides) {
  // Every day is off by 10 % or by 30 %, the same for all of its jobs. The interval lies between,
  // and does not shrink with more jobs per day, as it would if jobs were resampled.
  const auto make = [](int jobs_a_day) {
    Case c;
    for (int day = 0; day < 16; ++day) {
      for (int i = 0; i < jobs_a_day; ++i) {
        c.add(day * kDay_s + i, 1000, day % 2 == 0 ? 1100 : 1300, 0);
      }
    }
    return c;
  };
  const Backtest few = make(1).run();
  const Backtest many = make(50).run();
  EXPECT_NEAR(*few.jct.relative, 0.2, 1e-12);
  EXPECT_NEAR(*few.jct.low, *many.jct.low, 1e-9);
  EXPECT_NEAR(*few.jct.high, *many.jct.high, 1e-9);
  // Standard error 0.1 / 4; 95 % of a binomial around it.
  EXPECT_NEAR(*few.jct.low, 0.2 - 1.96 * 0.025, 0.013);
  EXPECT_NEAR(*few.jct.high, 0.2 + 1.96 * 0.025, 0.013);
  EXPECT_EQ(*few.jct.bound(), *few.jct.high);
  EXPECT_EQ(*make(1).run().jct.low, *few.jct.low);
}

TEST(Backtest, NoErrorIsStatedAgainstARecordWithoutWaits) {
  Case c;
  c.add(0, 0, 5);
  const Backtest test = c.run();
  EXPECT_FALSE(test.wait.relative);
  EXPECT_FALSE(test.wait.bound());
  EXPECT_TRUE(test.jct.bound());
  EXPECT_EQ(Case{}.run().jobs, 0);
}

TEST(Gain, IsClaimedBeyondTheErrorOnly) {
  RunMetrics site;
  site.avg_jct_s = 1000;
  site.avg_wait_s = 0;
  RunMetrics other;
  other.avg_jct_s = 900;
  Backtest test;
  test.jct = {1000, 1010, 0.01, -0.02, 0.05};
  EXPECT_DOUBLE_EQ(jct_gain(other, site, {}).gain, 0.1);
  EXPECT_FALSE(jct_gain(other, site, {}).error);
  EXPECT_FALSE(jct_gain(other, site, {}).claimed);
  EXPECT_EQ(*jct_gain(other, site, test).error, 0.05);
  EXPECT_TRUE(jct_gain(other, site, test).claimed);
  test.jct.low = -0.11;
  EXPECT_FALSE(jct_gain(other, site, test).claimed);
  EXPECT_EQ(wait_gain(other, site, test).gain, 0);
  EXPECT_FALSE(wait_gain(other, site, test).error) << "the error of the wait is unknown";
  EXPECT_FALSE(wait_gain(other, site, test).claimed);
}

}  // namespace
}  // namespace goban::study::results
