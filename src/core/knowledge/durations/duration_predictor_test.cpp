#include "core/knowledge/durations/duration_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

using model::UserId;

DurationTraits job_of(uint32_t user, double limit_s = 0) {
  return {.user = UserId(user), .num_gpus = 2, .limit_s = limit_s};
}

void run(DurationPredictor& predictor, const DurationTraits& job, double run_s) {
  predictor.learn(job, predictor.predict(job), run_s);
}

TEST(DurationScale, PositionsAndLevelsAreInverse) {
  for (const double seconds : {1.0, 1.5, 60.0, 3600.0, 86400.0 * 100}) {
    EXPECT_NEAR(seconds_at(scale_position(seconds)) / seconds, 1, 1e-12);
  }
  EXPECT_EQ(scale_position(0), 0);
  EXPECT_EQ(scale_position(std::nan("")), 0);
  EXPECT_LT(scale_position(1e300), kDurationBins);
  DurationDistribution distribution{};
  distribution[3] = 0.25;
  distribution[7] = 0.75;
  EXPECT_DOUBLE_EQ(position_of_level(distribution, 0.125), 3.5);
  EXPECT_DOUBLE_EQ(position_of_level(distribution, 0.25 + 0.375), 7.5);
  EXPECT_DOUBLE_EQ(level_of_position(distribution, 7.5), 0.625);
  EXPECT_DOUBLE_EQ(level_of_position(distribution, 5), 0.25);
}

TEST(DurationScale, OldRunsWeighLess) {
  DurationCounts counts;
  for (int i = 0; i < 50; ++i) counts.learn(10.5, 0.5);
  counts.learn(40.5, 0.5);
  EXPECT_NEAR(counts.runs(), 2, 1e-6);
  DurationDistribution mixed{};
  counts.mix_into(mixed, 0);
  EXPECT_NEAR(mixed[10], 0.5, 1e-6);
  EXPECT_NEAR(mixed[40], 0.5, 1e-6);
}

TEST(DurationPredictor, FewRunsGiveNoInterval) {
  DurationPredictor predictor;
  for (int i = 0; i < 19; ++i) run(predictor, job_of(0), 100);
  EXPECT_EQ(predictor.predict(job_of(0)).basis, DurationBasis::Unknown);
  EXPECT_EQ(predictor.predict(job_of(0, 3600)).basis, DurationBasis::LimitOnly);
  EXPECT_EQ(predictor.predict(job_of(0, 3600)).p50_s, 3600);
  run(predictor, job_of(0), 100);
  EXPECT_TRUE(predictor.predict(job_of(0)).has_interval());
}

TEST(DurationPredictor, LeavesFastHistogramsOutWhereTheyMislead) {
  // Bursts of ten alike jobs, of which the next burst has nothing: what the last few had in common
  // is no news. Or bursts that change for good.
  const auto loss_of_median = [](bool changes_for_good) {
    DurationPredictor predictor;
    base::Random random(5);
    double loss = 0;
    int judged = 0;
    for (int burst = 0; burst < 200; ++burst) {
      const bool is_long = changes_for_good ? burst >= 100 : random.below(10) < 3;
      const double run_s = is_long ? 10'000 : 100;
      std::vector<DurationForecast> made;
      for (int i = 0; i < 10; ++i) made.push_back(predictor.predict(job_of(0)));
      for (const DurationForecast& each : made) {
        if (burst > 20) {
          loss += std::abs(std::log(each.p50_s / run_s));
          ++judged;
        }
        predictor.learn(job_of(0), each, run_s);
      }
    }
    return loss / judged;
  };
  // Whoever always says 100 s is off by ln(100) in 30 % of the cases, by 1.38 on average.
  EXPECT_LT(loss_of_median(false), 1.8);
  EXPECT_LT(loss_of_median(true), 0.35);
}

TEST(DurationPredictor, TellsScriptsOfOneNameApart) {
  DurationPredictor predictor;
  DurationTraits quick = job_of(0);
  quick.name = model::ModelId(3U);
  DurationTraits slow = quick;
  quick.script = 11;
  slow.script = 12;
  for (int i = 0; i < 30; ++i) {
    run(predictor, quick, 100);
    run(predictor, slow, 10'000);
  }
  EXPECT_EQ(predictor.predict(quick).basis, DurationBasis::UserScriptSize);
  EXPECT_LT(predictor.predict(quick).p50_s, 200);
  EXPECT_GT(predictor.predict(slow).p50_s, 5000);
  DurationTraits edited = quick;
  edited.script = 13;
  EXPECT_EQ(predictor.predict(edited).basis, DurationBasis::UserNameSize);
  edited.name = {};
  EXPECT_EQ(predictor.predict(edited).basis, DurationBasis::UserSize);
}

TEST(DurationPredictor, KnowsAUserWhoseRunsAreAlike) {
  DurationPredictor predictor;
  base::Random random(3);
  for (int i = 0; i < 300; ++i) {
    run(predictor, job_of(1), 1000 + static_cast<double>(random.below(50)));
    run(predictor, job_of(2), 10 + static_cast<double>(random.below(100'000)));
  }
  const DurationForecast known = predictor.predict(job_of(1));
  EXPECT_EQ(known.basis, DurationBasis::UserSize);
  EXPECT_GT(known.p10_s, 700);
  EXPECT_LT(known.p90_s, 1500);
  EXPECT_GT(predictor.predict(job_of(2)).p50_s, 5000);
  // A stranger may be like either.
  const DurationForecast stranger = predictor.predict(job_of(9));
  EXPECT_EQ(stranger.basis, DurationBasis::Size);
  EXPECT_EQ(stranger.familiarity, 0);
  EXPECT_GT(stranger.p90_s / stranger.p10_s, 10);
}

TEST(DurationPredictor, RunsAboveTheLimitCountAsTheLimit) {
  DurationPredictor predictor;
  for (int i = 0; i < 100; ++i) run(predictor, job_of(1, 600), 10'000);
  const DurationForecast forecast = predictor.predict(job_of(1, 600));
  EXPECT_LE(forecast.p90_s, 600);
  EXPECT_GT(forecast.p10_s, 500);
}

RC_GTEST_PROP(DurationPredictor, QuantilesAscendAndKeepTheLimit, (uint64_t seed)) {
  base::Random random(seed);
  DurationPredictor predictor(50);
  for (int i = 0; i < 400; ++i) {
    DurationTraits job{.num_gpus = static_cast<int32_t>(random.below(40))};
    if (random.below(4) > 0) job.user = UserId(static_cast<uint32_t>(random.below(30)));
    if (random.below(2) > 0) job.account = model::AccountId(static_cast<uint32_t>(random.below(5)));
    if (random.below(2) > 0) job.name = model::ModelId(static_cast<uint32_t>(random.below(9)));
    if (random.below(2) > 0) job.limit_s = static_cast<double>(random.below(100'000));
    const DurationForecast f = predictor.predict(job);
    RC_ASSERT(std::ranges::is_sorted(f.quantiles_s));
    RC_ASSERT(f.p10_s <= f.p25_s && f.p25_s <= f.p50_s && f.p50_s <= f.p75_s && f.p75_s <= f.p90_s);
    if (job.limit_s > 0) RC_ASSERT(f.quantiles_s.back() <= job.limit_s);
    constexpr std::array kAbsurd = {0.0, 1e-9, 1e18, 86400.0, 3.0};
    predictor.learn(job, f, kAbsurd[random.below(kAbsurd.size())]);
    RC_ASSERT(predictor.num_groups() <= 50u);
  }
}

/// Mean and spread of ln(run) differ by user; nothing else tells run times apart.
TEST(DurationPredictor, TheIntervalCoversFourFifths) {
  DurationPredictor predictor;
  base::Random random(7);
  int inside = 0;
  int judged = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto user = static_cast<uint32_t>(random.below(20));
    double normal = -6;
    for (int k = 0; k < 12; ++k) normal += random.uniform();
    const double run_s = std::exp(4 + 0.3 * user + (0.2 + 0.1 * user) * normal);
    const DurationForecast f = predictor.predict(job_of(user));
    if (i >= 1000) {
      ++judged;
      if (run_s >= f.p10_s && run_s <= f.p90_s) ++inside;
    }
    predictor.learn(job_of(user), f, run_s);
  }
  EXPECT_NEAR(static_cast<double>(inside) / judged, 0.8, 0.02);
}

}  // namespace
}  // namespace goban::core::knowledge
