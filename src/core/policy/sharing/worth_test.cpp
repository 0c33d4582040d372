// share-worth: energy saved against the price of the delay.
#include "core/policy/sharing/worth.hpp"

#include <gtest/gtest.h>

#include "core/policy/sharing/benefit.hpp"
#include "core/policy/sharing/power_caps.hpp"
#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

/// With app 0: app 1 slows both by 10 %, app 2 by 50 %, app 3 by 100 %. A GPU with one job draws
/// 200 W, a pair 300 W or, with apps 2 and 3, 200 W; nothing else draws power.
TestSite site() {
  knowledge::PowerModel power;
  power.num_gpus = 4;
  power.gpu_idle_w = 1;
  power.gpu_dynamic_w = 1;
  power.caps = {{.cap_w = 150, .energy_factor = 0.8, .time_factor = 1.1}};
  return {.measured = {{.apps = {0}, .slowdown = {1}, .power_w = 200},
                       {.apps = {1}, .slowdown = {1}, .power_w = 200},
                       {.apps = {2}, .slowdown = {1}, .power_w = 200},
                       {.apps = {3}, .slowdown = {1}, .power_w = 200},
                       {.apps = {0, 1}, .slowdown = {1.1, 1.1}, .power_w = 300},
                       {.apps = {0, 2}, .slowdown = {1.5, 1.5}, .power_w = 200},
                       {.apps = {0, 3}, .slowdown = {2, 2}, .power_w = 200}},
          .power = {power}};
}

PolicyOptions worth(double delay_price_w, double crowded_rates = 0) {
  PolicyOptions options;
  options.limits.util_max_pct = 1000;
  options.limits.max_slowdown = 100;
  options.prices.delay_price_w = delay_price_w;
  options.prices.crowded_rates = crowded_rates;
  return options;
}

class Worth : public testing::Test {
 public:
  Worth() { view.set_demand(0); }
  int64_t chosen(const PolicyOptions& options, TestJob job = {.util_pct = 90}) {
    return view.chosen_gpu(*test_part("share-worth", options).sharing, view.submit(job));
  }
  TestSharing view{site()};
};

TEST_F(Worth, DelayIsCountedInJobSeconds) {
  TenantSet before(view, 0);
  before.add({.app = AppId(0U)});
  TenantSet with = before;
  with.add({.app = AppId(1U)});
  const SetPrediction alone = before.predict(view);
  const SetPrediction pair = with.predict(view);
  const Benefit benefit = predicted_benefit(
      view,
      {.before = &before, .before_prediction = &alone, .with = &with, .with_prediction = &pair});
  EXPECT_NEAR(benefit.delay, 2 * (1 - 1 / 1.1), 1e-9);
  EXPECT_NEAR(benefit.saved_w, 2 * 200 / 1.1 - 300, 1e-9);
  EXPECT_NEAR(benefit.saved_part, 1 - 300 / (2 * 200 / 1.1), 1e-9);
}

TEST_F(Worth, TheWorthiestGoesFirstAndPriceDecidesWhich) {
  view.run({.app = 1, .util_pct = 90}, {0});
  view.run({.app = 2, .util_pct = 10}, {1});
  // Saved: 63.6 W for 0.18 s of delay per second, and 66.7 W for 0.67 s.
  EXPECT_EQ(chosen(worth(0)), 1);
  EXPECT_EQ(chosen(worth(100)), 0);
  EXPECT_EQ(chosen(worth(340)), 0);
  EXPECT_EQ(chosen(worth(360)), -1);
}

TEST_F(Worth, UtilisationsForbidNothing) {
  view.run({.app = 1, .util_pct = 100}, {0});
  EXPECT_EQ(chosen(worth(100), {.util_pct = 100}), 0);
}

TEST_F(Worth, InACrowdRatesDecide) {
  view.run({.app = 2}, {0});  // rates of 1.33
  EXPECT_EQ(chosen(worth(1000, 1.3)), -1);
  view.set_demand(1'000'000);
  EXPECT_EQ(chosen(worth(1000, 1.3)), 0);
  EXPECT_EQ(chosen(worth(1000, 1.4)), -1);
  EXPECT_EQ(chosen(worth(1000)), -1);
}

TEST_F(Worth, TimeCostsMoreWhereGpusAreScarce) {
  const double gpus = view.tenants().cluster().num_gpus();
  EXPECT_EQ(delay_price_w(view, 100), 100);
  view.set_demand(static_cast<int64_t>(gpus / 2));
  EXPECT_NEAR(delay_price_w(view, 100), 200, 1e-9);
  view.set_demand(static_cast<int64_t>(gpus));
  EXPECT_NEAR(delay_price_w(view, 100), 100 / (1 - kPriceDemandMax), 1e-9);
  EXPECT_FALSE(crowded(view));
  view.set_demand(static_cast<int64_t>(2 * gpus));
  EXPECT_NEAR(delay_price_w(view, 100), 100 / (1 - kPriceDemandMax), 1e-9);
  EXPECT_TRUE(crowded(view));
}

TEST_F(Worth, NothingIsWonByTakingTurns) {
  view.run({.app = 3}, {0});
  view.set_demand(1'000'000);
  EXPECT_EQ(chosen(worth(0, 1)), -1);
}

TEST_F(Worth, TheNextBestGroupIfTheBestBreaksAPromise) {
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1050}, {0});
  view.run({.app = 2}, {1});
  EXPECT_EQ(chosen(worth(10)), 1);
}

TEST_F(Worth, PowerLimitsPayForTheirDelay) {
  view.run({.app = 0, .deadline_s = 1e6}, {0});
  const GroupId group = view.group_of(0);
  // The limit saves 20 % of 200 W, and the job takes 10 % longer.
  EXPECT_EQ(cap_into_slack(view, group, 0), 0);
  EXPECT_EQ(cap_into_slack(view, group, 350), 0);
  EXPECT_EQ(cap_into_slack(view, group, 450), -1);
}

}  // namespace
}  // namespace goban::core::policy
