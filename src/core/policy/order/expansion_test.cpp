#include <array>
#include <gtest/gtest.h>
#include <memory>

#include "core/policy/order/expected_left.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using base::from_seconds;

model::JobState predicted(uint32_t arrival, double submit_s, double p50_s, int32_t gpus = 1) {
  model::JobState job;
  job.arrival = arrival;
  job.request.submit_ns = from_seconds(submit_s);
  job.request.num_gpus = gpus;
  job.forecast = {.p10_ns = from_seconds(p50_s / 2),
                  .p50_ns = from_seconds(p50_s),
                  .p90_ns = from_seconds(p50_s * 2)};
  return job;
}

OrderKey expansion_key(const model::JobState& job, double now_s = 1e6) {
  return test_part("expansion").order->key(job, {}, from_seconds(now_s));
}

TEST(Expansion, ShortJobsPassLongOnesForSoLong) {
  // 20 x 600 s = 12,000 s.
  const auto late_short = [](double submit_s) { return predicted(1, submit_s, 100); };
  EXPECT_LT(expansion_key(late_short(9'999)), expansion_key(predicted(0, 0, 600)));
  EXPECT_GT(expansion_key(late_short(10'001)), expansion_key(predicted(0, 0, 600)));
}

TEST(Expansion, SizeCountsByItsRoot) {
  EXPECT_EQ(expansion_key(predicted(0, 0, 600, 4)).metric,
            expansion_key(predicted(0, 0, 1200, 1)).metric);
  EXPECT_EQ(expansion_key(predicted(0, 0, 1)).metric,
            expansion_key(predicted(0, 0, 60)).metric);  // shortest: 60 s
}

TEST(Expansion, TheLimitStandsForAnUnknownRunTime) {
  model::JobState limited = predicted(0, 0, 0);
  limited.forecast = {};
  EXPECT_EQ(expansion_key(limited).metric, expansion_key(predicted(0, 0, 3600)).metric);
  limited.request.walltime_limit_ns = from_seconds(7200);
  EXPECT_EQ(expansion_key(limited).metric, expansion_key(predicted(0, 0, 7200)).metric);
  limited.request.walltime_limit_ns = base::kNever;
  EXPECT_LE(expansion_key(limited).metric, 9e18);
}

TEST(Expansion, AJobThatOutrunsItsForecastFallsBack) {
  model::JobState running = predicted(0, 0, 1000);
  running.phase = model::JobPhase::Running;
  EXPECT_EQ(expected_left_ns(running, from_seconds(400)), from_seconds(700));
  EXPECT_EQ(expected_left_ns(running, from_seconds(3000)), from_seconds(1500));
  EXPECT_LT(expansion_key(running, 400), expansion_key(predicted(1, 0, 900)));
  EXPECT_GT(expansion_key(running, 3000), expansion_key(predicted(1, 0, 900)));
}

TEST(Expansion, PriorityPrecedesAll) {
  model::JobState urgent = predicted(3, 0, 1e5, 8);
  urgent.request.priority = 1;
  EXPECT_LT(expansion_key(urgent), expansion_key(predicted(0, 0, 60)));
}

TEST(FairExpansion, AnAccountThatHasUsedLittleLetsFewPass) {
  PolicySet set;
  set.rules = std::make_shared<model::SiteRules>();
  find_part("fair-expansion")->install(set, {}, {});
  const std::array factors = {0.0, 0.125, 1.0};
  const OrderView view{.fair_share = factors};
  const auto due_s = [&](uint32_t association) {
    model::JobState job = predicted(0, 100, 600);
    job.association = association;
    return base::to_seconds(set.order->key(job, view, 0).metric);
  };
  EXPECT_NEAR(due_s(0), 100 + 20 * 600, 1e-6) << "as expansion";
  EXPECT_NEAR(due_s(1), 100 + 10 * 600, 1e-6);
  EXPECT_NEAR(due_s(2), 100 + 20 * 600 / 256.0, 1e-6);
  EXPECT_TRUE(set.order->uses_fair_share());
  EXPECT_EQ(set.order->resort_ns(), set.rules->recalculate_ns);
}

}  // namespace
}  // namespace goban::core::policy
