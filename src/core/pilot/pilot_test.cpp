#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/pilot/comparison.hpp"
#include "core/pilot/outcomes.hpp"
#include "core/pilot/pilot_plan.hpp"

namespace goban::core::pilot {
namespace {

Plan small_plan() {
  return {.policy_a = "fifo",
          .policy_b = "goban",
          .period_ns = base::kHour,
          .settle_ns = 10 * base::kMinute,
          .pairs = 8};
}

/// Periods in which every job waits 1,000 s under A, times `ratio` under B.
std::vector<Outcomes> periods_of(const Plan& plan, double ratio, double drift = 1) {
  std::vector<Outcomes> out(static_cast<size_t>(plan.num_periods()));
  double wait_s = 1000;
  for (int32_t i = 0; i < plan.num_periods(); ++i, wait_s *= drift) {
    const double factor = plan.arm(i) == Arm::B ? ratio : 1;
    for (int job = 0; job < 20; ++job) {
      out[static_cast<size_t>(i)].add({.wait_s = wait_s * factor, .held_s = 3600, .gpus = 2}, true);
    }
  }
  return out;
}

TEST(PilotPlan, EveryPairHasOnePeriodOfEachPolicy) {
  Plan plan = small_plan();
  plan.pairs = 100;
  int b_first = 0;
  for (int32_t pair = 0; pair < plan.pairs; ++pair) {
    EXPECT_NE(plan.arm(2 * pair), plan.arm(2 * pair + 1));
    b_first += plan.arm(2 * pair) == Arm::B ? 1 : 0;
  }
  EXPECT_GT(b_first, 30);  // 4 standard deviations
  EXPECT_LT(b_first, 70);
}

TEST(PilotPlan, TheSeedDrawsTheOrder) {
  Plan one = small_plan();
  Plan two = small_plan();
  one.pairs = two.pairs = 64;
  two.seed = 2;
  int differ = 0;
  for (int32_t pair = 0; pair < one.pairs; ++pair) differ += one.arm(2 * pair) != two.arm(2 * pair);
  EXPECT_GT(differ, 12);
  EXPECT_LT(differ, 52);
}

TEST(PilotPlan, PeriodsFollowTheClock) {
  const Plan plan = small_plan();
  EXPECT_EQ(plan.period_at(-1), 0);
  EXPECT_EQ(plan.period_at(base::kHour - 1), 0);
  EXPECT_EQ(plan.period_at(base::kHour), 1);
  EXPECT_EQ(plan.period_at(16 * base::kHour), 16);
  EXPECT_EQ(plan.period_at(99 * base::kHour), 16);
  EXPECT_FALSE(plan.judges(-1));
  EXPECT_FALSE(plan.judges(base::kHour + 9 * base::kMinute));
  EXPECT_TRUE(plan.judges(base::kHour + 10 * base::kMinute));
  EXPECT_FALSE(plan.judges(16 * base::kHour + 30 * base::kMinute));
}

TEST(PilotPlan, IsReadAsItWasWritten) {
  Plan plan = small_plan();
  plan.seed = 7;
  plan.effect = 0.2;
  plan.stop = {.slowdown = 2, .misses = 0.1, .errors = 0.2, .jobs = 20};
  plan.nodes = {"n1", "n2"};
  plan.users = {"ann"};
  plan.accounts = {"vision", "speech"};
  const auto again = parse_plan(to_json(plan).dump(), "plan.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, plan);
}

TEST(PilotPlan, ASeedIsReadAgainOrRefused) {
  Plan plan = small_plan();
  plan.seed = 9223372036854775807U;
  EXPECT_TRUE(check(plan));
  EXPECT_TRUE(parse_plan(to_json(plan).dump(), "plan.json"));
  plan.seed = 9223372036854775808U;
  ASSERT_FALSE(check(plan));
  EXPECT_EQ(check(plan).error().place.field, "seed");
}

TEST(PilotPlan, ErrorsNameFileAndField) {
  const auto error_of = [](const char* text) {
    const auto plan = parse_plan(text, "plan.json");
    return plan ? std::string() : plan.error().text();
  };
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"fifo"})").find("plan.json: policy_b"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","pairs":0})").find("pairs"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","period_s":60})").find("period_s"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","periods":3})").find("periods"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","settle_s":86400})").find("settle_s"),
            std::string::npos);
  EXPECT_NE(error_of("{").find("plan.json:1"), std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","nodes":["a"]})").find("users"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","users":["a"]})").find("nodes"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"policy_a":"fifo","policy_b":"las","users":["a",""],"nodes":["n"]})")
                .find("users"),
            std::string::npos);
}

TEST(PilotOutcomes, SlowdownsOfShortRunsAreBounded) {
  EXPECT_DOUBLE_EQ((Outcome{.wait_s = 3600, .held_s = 3600}.slowdown()), 2);
  EXPECT_DOUBLE_EQ((Outcome{.wait_s = 600, .held_s = 1}.slowdown()), 2);
}

TEST(PilotOutcomes, ALongJobThatWaitsIsNoShortOne) {
  EXPECT_DOUBLE_EQ((Outcome{.wait_s = 7200, .expected_s = 7200}.slowdown()), 2);
  EXPECT_DOUBLE_EQ((Outcome{.wait_s = 7200, .held_s = 14400, .expected_s = 3600}.slowdown()), 1.5);
  // Ten-hour jobs wait an hour under B, half an hour under A: no threefold slowdown.
  Outcomes of_a;
  Outcomes of_b;
  for (int i = 0; i < 60; ++i) {
    of_a.add({.wait_s = 1800, .held_s = 36000, .gpus = 1}, true);
    of_b.add({.wait_s = 3600, .expected_s = 36000}, true);
  }
  EXPECT_FALSE(find_harm({}, of_a, of_b));
}

TEST(PilotOutcomes, WhatIsNotJudgedCountsForMissesOnly) {
  Outcomes sums;
  sums.add({.wait_s = 50, .held_s = 3600, .gpus = 4, .missed = true}, false);
  sums.add({.wait_s = 70, .held_s = 1800, .gpus = 2, .failed = true}, true);
  EXPECT_EQ(sums.jobs, 2);
  EXPECT_EQ(sums.judged, 1);
  EXPECT_EQ(sums.missed, 1);
  EXPECT_EQ(sums.failed, 1);
  EXPECT_DOUBLE_EQ(sums.wait_s, 70);
  EXPECT_DOUBLE_EQ(sums.gpu_hours, 5);
}

TEST(PilotHarm, EachRuleStopsWhatItIsFor) {
  const StopRules rules;
  const Outcomes good{.jobs = 100, .missed = 1, .failed = 10, .judged = 100, .slowdown = 200};
  EXPECT_FALSE(find_harm(rules, good, good));
  Outcomes slow = good;
  slow.slowdown = 601;
  ASSERT_TRUE(find_harm(rules, good, slow));
  EXPECT_EQ(harm_text(*find_harm(rules, good, slow)),
            "slowdown: 6.01 on average under B, 2.00 under A");
  Outcomes late = good;
  late.missed = 7;
  EXPECT_STREQ(find_harm(rules, good, late)->rule, "misses");
  Outcomes broken = good;
  broken.failed = 21;
  EXPECT_EQ(harm_text(*find_harm(rules, good, broken)),
            "errors: 21.0 % of the jobs under B, 10.0 % under A");
  EXPECT_FALSE(find_harm(rules, late, good)) << "A is not what is tried";
  Outcomes few{.jobs = 49, .missed = 49, .failed = 49, .judged = 49, .slowdown = 9999};
  EXPECT_FALSE(find_harm(rules, good, few));
}

TEST(PilotComparison, FindsAGainAndALoss) {
  const Plan plan = small_plan();
  const Comparison gain = compare(plan, periods_of(plan, 0.5, 1.02), true);
  EXPECT_EQ(gain.verdict, Verdict::Gain);
  ASSERT_TRUE(gain.wait);
  // Half the wait and the minute that is added to both.
  EXPECT_NEAR(gain.wait->value, 560.0 / 1060, 0.02);
  EXPECT_LT(gain.wait->high, 1);
  EXPECT_EQ(compare(plan, periods_of(plan, 2, 1.02), true).verdict, Verdict::Loss);
}

TEST(PilotComparison, OneTerribleDayIsNoGain) {
  Plan plan = small_plan();
  plan.pairs = 20;
  std::vector<Outcomes> periods(static_cast<size_t>(plan.num_periods()));
  for (int32_t i = 0; i < plan.num_periods(); ++i) {
    double wait_s = 3600;
    if (plan.arm(i) == Arm::B) wait_s = i / 2 == 7 ? 48 * 3600 : 48 * 60;
    for (int job = 0; job < 20; ++job) {
      periods[static_cast<size_t>(i)].add({.wait_s = wait_s, .held_s = 3600, .gpus = 1}, true);
    }
  }
  const Comparison shown = compare(plan, periods, true);
  ASSERT_TRUE(shown.wait);
  EXPECT_LT(shown.wait->high, 1) << "the typical pair is better";
  EXPECT_NEAR(shown.overall_wait.value_or(0), (19 * 48 + 48 * 60) / (20.0 * 60), 1e-9);
  EXPECT_TRUE(shown.contradicts);
  EXPECT_EQ(shown.verdict, Verdict::NotEnoughData);
  EXPECT_FALSE(compare(plan, periods_of(plan, 0.5, 1.02), true).contradicts);
}

TEST(PilotComparison, SaysNothingBeforeTheEnd) {
  const Plan plan = small_plan();
  const Comparison early = compare(plan, periods_of(plan, 0.5), false);
  EXPECT_EQ(early.verdict, Verdict::NotEnoughData);
  EXPECT_TRUE(early.wait);
}

TEST(PilotComparison, FivePairsAreNotEnough) {
  Plan plan = small_plan();
  plan.pairs = 5;
  const Comparison few = compare(plan, periods_of(plan, 0.5), true);
  EXPECT_EQ(few.verdict, Verdict::NotEnoughData);
  EXPECT_FALSE(few.wait);
}

TEST(PilotComparison, NoGainNeedsANarrowInterval) {
  Plan plan = small_plan();
  // Nothing differs but the load, which grows a little with time.
  EXPECT_EQ(compare(plan, periods_of(plan, 1, 1.01), true).verdict, Verdict::NoGain);
  EXPECT_EQ(compare(plan, periods_of(plan, 1, 1.6), true).verdict, Verdict::NotEnoughData);
  plan.effect = 0.001;
  EXPECT_EQ(compare(plan, periods_of(plan, 1, 1.01), true).verdict, Verdict::NotEnoughData);
}

TEST(PilotComparison, PairsWithFewJobsAreLeftOut) {
  const Plan plan = small_plan();
  std::vector<Outcomes> periods = periods_of(plan, 0.5);
  periods[3] = {.jobs = 4, .judged = 4, .wait_s = 9e9, .slowdown = 9e9};
  EXPECT_EQ(compare(plan, periods, true).pairs, 7);
  periods.pop_back();
  EXPECT_EQ(compare(plan, periods, true).pairs, 6);
}

}  // namespace
}  // namespace goban::core::pilot
