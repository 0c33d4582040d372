// Simulated pilots: what is counted, by hand; how often a gain is found, on generated jobs.
#include "study/pilot_trials.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "base/test_folder.hpp"

namespace goban::study {
namespace {

using base::kHour;
using core::pilot::Arm;
using core::pilot::Plan;
using core::pilot::Verdict;
using testing::HasSubstr;

struct SimulatedPilots : testing::Test {
  /// Jobs of a few users on one node, at a load of 0.9: half of them short, half long.
  void write_days(int days) {
    std::string rows = "job_id,submit_time,duration,num_gpus,user,walltime_s\n";
    base::Random random(7);
    for (int i = 0; i < days * 96; ++i) {
      const int64_t run_s = i % 2 == 0 ? 150 : 3600 + static_cast<int64_t>(random.below(2700));
      rows +=
          fmt::format("{},{},{},{},u{},{}\n", i, static_cast<uint64_t>(i) * 900 + random.below(800),
                      run_s, 1 + random.below(4), i % 5, 2 * run_s);
    }
    options.files.jobs = folder.write("jobs.csv", rows);
    options.files.cluster = "1x8";
    options.files.rejects = folder / "rejects.csv";
    options.policies = {"fifo+packed", "srtf+packed"};
    auto read = load_inputs(options.files, {}, 1, progress);
    ASSERT_TRUE(read) << read.error().text();
    inputs.emplace(std::move(*read));
  }

  base::TestFolder folder;
  base::Progress progress;
  StudyOptions options;
  std::optional<Inputs> inputs;
  Plan plan{.policy_a = "fifo+packed",
            .policy_b = "srtf+packed",
            .period_ns = 6 * kHour,
            .settle_ns = kHour,
            .pairs = 8};
};

TEST_F(SimulatedPilots, AGainWithoutAnEffectIsRare) {
  write_days(6);
  const auto trials = try_pilots(plan, options, *inputs, 120, progress);
  ASSERT_TRUE(trials) << trials.error().text();
  const PilotTally& without = trials->without_effect;
  EXPECT_EQ(without.pilots, 120u);
  EXPECT_EQ(without.gains + without.losses + without.no_gains + without.not_enough, 120u);
  // At most 2.5 % by construction: more than 8 of 120 have a probability below 1 %.
  EXPECT_LE(without.gains, 8u);
  EXPECT_LE(without.losses, 8u);
  // Shortest first makes the wait much shorter here.
  EXPECT_GT(trials->with_effect.gains, 36u);
  EXPECT_LT(trials->with_effect.ratio.value_or(1), 0.8);
}

TEST_F(SimulatedPilots, AShortHistoryIsRefused) {
  write_days(4);
  const auto trials = try_pilots(plan, options, *inputs, 1, progress);
  ASSERT_FALSE(trials);
  EXPECT_THAT(trials.error().text(), HasSubstr("the history has 4 days; this pilot takes 4 days"));
}

TEST(PilotTrial, ARunIsJudgedByItsPeriods) {
  Plan plan{.policy_a = "a",
            .policy_b = "b",
            .period_ns = kHour,
            .settle_ns = 0,
            .pairs = 6,
            .stop = {.slowdown = 100}};
  core::model::JobHistory history;
  simulator::SimulationResult run;
  for (int32_t period = 0; period < plan.num_periods(); ++period) {
    for (int i = 0; i < 10; ++i) {
      core::model::Job job;
      job.request.submit_ns = kHour + period * kHour + i * base::kMinute;
      job.request.num_gpus = 1;
      history.jobs.push_back(job);
      const base::TimeNs wait_ns = (plan.arm(period) == Arm::B ? 10 : 30) * base::kMinute;
      run.outcomes.push_back({.start_ns = job.request.submit_ns + wait_ns,
                              .finish_ns = job.request.submit_ns + wait_ns + 20 * base::kMinute,
                              .held_ns = 20 * base::kMinute,
                              .end = simulator::JobEnd::Finished});
    }
  }
  const PilotTrial gain = judge_run(plan, kHour, history, run);
  EXPECT_EQ(gain.comparison.verdict, Verdict::Gain);
  EXPECT_NEAR(gain.comparison.wait->value, 660.0 / 1860, 1e-9);  // a minute is added to both
  EXPECT_FALSE(gain.fell_back);
  // Every job of B is killed at its limit: from 50 jobs of each policy on, that is too much.
  for (size_t i = 0; i < run.outcomes.size(); ++i) {
    const auto period = static_cast<int32_t>(i / 10);
    if (plan.arm(period) == Arm::B) run.outcomes[i].end = simulator::JobEnd::TimedOut;
  }
  const PilotTrial harm = judge_run(plan, kHour, history, run);
  EXPECT_TRUE(harm.fell_back);
  EXPECT_EQ(harm.comparison.verdict, Verdict::NotEnoughData);
}

/// Jobs of B wait less, but from the seventh pair on they are killed.
TEST(PilotTrial, AFallBackIsNeverAGain) {
  const Plan plan{.policy_a = "a",
                  .policy_b = "b",
                  .period_ns = kHour,
                  .settle_ns = 0,
                  .pairs = 12,
                  .stop = {.slowdown = 100}};
  core::model::JobHistory history;
  simulator::SimulationResult run;
  for (int32_t period = 0; period < plan.num_periods(); ++period) {
    const bool is_b = plan.arm(period) == Arm::B;
    for (int i = 0; i < 10; ++i) {
      core::model::Job job;
      job.request.submit_ns = period * kHour + i * base::kMinute;
      job.request.num_gpus = 1;
      history.jobs.push_back(job);
      const base::TimeNs start_ns = job.request.submit_ns + (is_b ? 10 : 30) * base::kMinute;
      run.outcomes.push_back({.start_ns = start_ns,
                              .finish_ns = start_ns + base::kMinute,
                              .held_ns = base::kMinute,
                              .end = is_b && period >= 14 ? simulator::JobEnd::TimedOut
                                                          : simulator::JobEnd::Finished});
    }
  }
  const PilotTrial trial = judge_run(plan, 0, history, run);
  EXPECT_TRUE(trial.fell_back);
  EXPECT_GE(trial.comparison.pairs, 6);
  ASSERT_TRUE(trial.comparison.wait);
  EXPECT_LT(trial.comparison.wait->high, 1);
  EXPECT_EQ(trial.comparison.verdict, Verdict::NotEnoughData);
}

TEST(PilotTrial, WhatHappensAfterThePlannedEndDoesNotCount) {
  const Plan plan{.policy_a = "a", .policy_b = "b", .period_ns = kHour, .settle_ns = 0, .pairs = 6};
  const auto judged = [&](base::TimeNs start_ns) {
    core::model::JobHistory history;
    simulator::SimulationResult run;
    for (int32_t period = 0; period < plan.num_periods(); ++period) {
      for (int i = 0; i < 5; ++i) {
        core::model::Job job;
        job.request.submit_ns = period * kHour + i * base::kMinute;
        job.request.num_gpus = 1;
        history.jobs.push_back(job);
        run.outcomes.push_back(
            {.start_ns = start_ns, .finish_ns = start_ns + kHour, .held_ns = kHour});
      }
    }
    return judge_run(plan, 0, history, run).comparison.overall_wait.value_or(0);
  };
  EXPECT_GT(judged(20 * kHour), 0);
  EXPECT_DOUBLE_EQ(judged(20 * kHour), judged(200 * kHour));
}

TEST(PilotTally, CountsVerdicts) {
  std::vector<PilotTrial> trials(10);
  trials[0].comparison = {.pairs = 6, .wait = {{0.5, 0.4, 0.6}}, .verdict = Verdict::Gain};
  trials[1].comparison = {.pairs = 6, .wait = {{1.5, 1.4, 1.6}}, .verdict = Verdict::Loss};
  trials[2].comparison = {.pairs = 6, .wait = {{1.0, 0.95, 1.1}}, .verdict = Verdict::NoGain};
  trials[3].fell_back = true;
  const PilotTally tally = study::tally(trials);
  EXPECT_EQ(tally.gains, 1u);
  EXPECT_EQ(tally.losses, 1u);
  EXPECT_EQ(tally.no_gains, 1u);
  EXPECT_EQ(tally.not_enough, 7u);
  EXPECT_EQ(tally.fell_back, 1u);
  EXPECT_DOUBLE_EQ(tally.ratio.value_or(0), 1.0);
  EXPECT_FALSE(study::tally(std::vector<PilotTrial>(3)).ratio) << "none was measured";
  EXPECT_NEAR(tally.gain_upper, 0.394, 0.001);  // R: binom.test(1, 10, alternative = "less")
}

}  // namespace
}  // namespace goban::study
