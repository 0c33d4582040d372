// What a policy is worth, computed by hand.
#include "study/results/worth.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

using base::kDay;
using base::kHour;
using base::kMinute;
using testing::DoubleEq;
using testing::ElementsAre;

/// 1 in the even hours of the day and -1 in the odd ones.
Prices even_and_odd() {
  Prices prices;
  for (int hour = 0; hour < kHoursOfDay; ++hour) {
    prices.electricity.cycle.push_back(hour % 2 == 0 ? 1 : -1);
  }
  prices.carbon_g.cycle = {500};
  return prices;
}

TEST(HourlyEnergy, SplitsPowerAtTheHoursOfTheCalendar) {
  // The run begins at 10:40 UTC.
  HourlyEnergy energy(0, 10 * kHour + 40 * kMinute);
  energy.add(-kHour, 30 * kMinute, 1000);  // before the run: ignored
  energy.add(30 * kMinute, 2 * kHour + 20 * kMinute, 600);
  energy.add(0, 20 * kMinute, 100);
  EXPECT_EQ(energy.first_hour(), 10);
  EXPECT_THAT(energy.joules(),
              ElementsAre(DoubleEq(1100 * 1200.0), DoubleEq(1000 * 600.0 + 600 * 3000.0),
                          DoubleEq(600 * 3600.0)));
  EXPECT_EQ(energy.begin_of(0), 0);
  EXPECT_EQ(energy.begin_of(1), 20 * kMinute);
}

TEST(Worth, EnergyCostsWhatItsHourCosts) {
  Prices prices = even_and_odd();
  HourlyEnergy energy(0, 0);
  energy.add(0, kHour, 2000);          // 2 kWh at 1
  energy.add(kHour, 2 * kHour, 3000);  // 3 kWh at -1
  EXPECT_EQ(energy_cost(energy, prices),
            (EnergyCost{.kwh = 5, .money = -1, .carbon_kg = 2.5, .uncovered_kwh = 0}))
      << "who draws power at a negative price is paid for it";
  prices.pue = 2;
  EXPECT_EQ(energy_cost(energy, prices),
            (EnergyCost{.kwh = 10, .money = -2, .carbon_kg = 5, .uncovered_kwh = 0}));
  Prices dated;
  dated.electricity.dated = {4};
  dated.electricity.of_day.fill(7);
  EXPECT_EQ(energy_cost(energy, dated),
            (EnergyCost{.kwh = 5, .money = 2 * 4 + 3 * 7, .carbon_kg = 0, .uncovered_kwh = 3}));
}

TEST(Worth, ElectricityOfADayCountsFromTheFirstSubmission) {
  Prices prices;
  prices.electricity.cycle = {1};
  HourlyEnergy energy(0, 0);
  energy.add(0, 3 * kDay, 1000);
  // Days begin at 0:30.
  EXPECT_THAT(electricity_by_day(energy, prices, 30 * kMinute, 2),
              ElementsAre(testing::DoubleNear(24, 1e-9), testing::DoubleNear(24, 1e-9)));
  EXPECT_THAT(electricity_by_day(energy, prices, 0, 4),
              ElementsAre(testing::DoubleNear(24, 1e-9), testing::DoubleNear(24, 1e-9),
                          testing::DoubleNear(24, 1e-9), 0));
}

TEST(Worth, AnIntervalIsTheSpreadOfSingleHistories) {
  // Deviation 1 over three resamples; t = 4.303 with two degrees of freedom.
  const std::vector<double> resampled = {9, 10, 11};
  const Estimate of = estimate(12, resampled);
  EXPECT_EQ(of.value, 12);
  ASSERT_TRUE(of.half_width);
  EXPECT_NEAR(*of.half_width, 4.303, 1e-9);
  EXPECT_TRUE(of.is_shown());
  EXPECT_FALSE(estimate(4, resampled).is_shown());
  EXPECT_TRUE(estimate(-5, resampled).is_shown()) << "a loss";
  EXPECT_FALSE(estimate(12, std::vector<double>{9}).half_width);
  EXPECT_FALSE(estimate(12, {}).is_shown()) << "nothing is known of the error";
}

TEST(Worth, APilotNeedsTheDaysOfTheTest) {
  // Deviations 1 and 1, effect 1: 7.849 x 2 + 0.960 = 16.66, so 17 days each.
  const Pilot one = pilot(std::vector<double>{4, 5, 6}, std::vector<double>{3, 4, 5});
  EXPECT_DOUBLE_EQ(one.effect, 1);
  EXPECT_DOUBLE_EQ(one.sd_reference, 1);
  EXPECT_DOUBLE_EQ(one.sd_policy, 1);
  EXPECT_EQ(one.days, 34);
  // A loss of 2 is seen as a gain of 2 would be: 7.849 x 2 / 4 + 0.960 = 4.88.
  EXPECT_EQ(pilot(std::vector<double>{4, 5, 6}, std::vector<double>{6, 7, 8}).days, 10);
  EXPECT_EQ(pilot(std::vector<double>{5, 5}, std::vector<double>{4, 4}).days, 4) << "at least 2";
  EXPECT_FALSE(pilot(std::vector<double>{4, 6}, std::vector<double>{3, 7}).days) << "no effect";
  EXPECT_FALSE(pilot(std::vector<double>{4}, std::vector<double>{3}).days) << "one day";
}

TEST(Worth, TheAccountWhoseWaitGrowsMost) {
  const std::vector<AccountMetrics> before = {{.name = "a", .jobs = 1, .avg_wait_s = 100},
                                              {.name = "b", .jobs = 2, .avg_wait_s = 10},
                                              {.name = "c", .jobs = 3, .avg_wait_s = 10}};
  const std::vector<AccountMetrics> after = {{.name = "c", .jobs = 3, .avg_wait_s = 30},
                                             {.name = "a", .jobs = 1, .avg_wait_s = 90},
                                             {.name = "b", .jobs = 2, .avg_wait_s = 30}};
  const auto worst = worst_change(before, after);
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->name, "b");
  EXPECT_EQ(worst->jobs, 2);
  EXPECT_EQ(worst->reference_wait_s, 10);
  EXPECT_EQ(worst->wait_s, 30);
  EXPECT_FALSE(worst_change({}, {}));
}

TEST(Worth, EveryHistoryIsScaledByItsOwnSpan) {
  const auto run = [](double kwh_money, double gpu_hours, double wait_s) {
    RunCost cost;
    cost.energy.money = kwh_money;
    cost.energy.kwh = 10 * kwh_money;
    cost.gpu_hours = gpu_hours;
    cost.gpu_money = 2 * gpu_hours;
    cost.avg_wait_s = wait_s;
    return cost;
  };
  Worth worth;
  worth.histories.push_back({{}, kYear_s, {run(100, 50, 60), run(80, 55, 30)}});
  worth.histories.push_back({7, kYear_s / 2, {run(50, 25, 60), run(45, 24, 70)}});
  worth.histories.push_back({8, kYear_s, {run(100, 50, 60), run(90, 50, 20)}});
  compare_costs(worth);
  ASSERT_EQ(worth.policies.size(), 2U);
  EXPECT_EQ(worth.policies[0].year.money(), 200);
  EXPECT_FALSE(worth.policies[0].saving.half_width) << "the reference saves nothing";
  const PolicyWorth& policy = worth.policies[1];
  EXPECT_EQ(policy.saving.value, 20 - 10) << "electricity saved, GPU-hours used";
  EXPECT_EQ(policy.electricity_saving.value, 20);
  EXPECT_EQ(policy.gpu_saving.value, -10);
  EXPECT_EQ(policy.kwh_saved.value, 200);
  EXPECT_EQ(policy.gpu_hours_freed.value, -5);
  EXPECT_EQ(policy.wait_change_s.value, -30);
  // The first resample saves 2 x (5 + 2) in a year, the second 10: deviation 2 x sqrt(2).
  ASSERT_TRUE(policy.saving.half_width);
  EXPECT_NEAR(*policy.saving.half_width, 12.707 * std::sqrt(8.0), 1e-9);
  ASSERT_TRUE(policy.worst_seed);
  EXPECT_EQ(policy.worst_seed->seed, 8U);
  EXPECT_DOUBLE_EQ(policy.worst_seed->saving, 10);
}

}  // namespace
}  // namespace goban::study::results
