#include "study/history/generate/population.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace goban::study::history {
namespace {

using base::Random;

/// Two groups of one distribution, four users, a week with submissions by day only.
class PopulationTest : public ::testing::Test {
 protected:
  PopulationTest() : law_(DurationLaw::fit({10, 200'000, 5'000, 12'000, {{1'000, 0.5}}}).value()) {
    plan_.strata = {{&law_, false}};
    plan_.groups = {{0, 6'000, 50}, {0, 4'000, 1}};
    plan_.user_jobs = {7'000, 0, 2'500, 500};
    plan_.models = {1, 1, 1};
    plan_.arrivals.hours.fill(0);
    plan_.arrivals.hours[9] = 1;
    plan_.arrivals.hours[15] = 3;
    plan_.arrivals.weekdays = {1, 1, 1, 1, 1, 0, 0};
    plan_.arrivals.first_weekday = 3;
    plan_.arrivals.days = 7;
  }
  std::vector<JobDraft> draft(uint64_t seed) {
    Random random(seed);
    return draft_population(plan_, random, {});
  }
  DurationLaw law_;
  PopulationPlan plan_;
};

TEST_F(PopulationTest, MeetsTheQuotas) {
  std::map<int, int> users;
  std::map<uint32_t, int> groups;
  for (const JobDraft& job : draft(1)) {
    ++users[job.user];
    ++groups[job.group];
    EXPECT_LT(job.model, 3);
  }
  EXPECT_EQ(users, (std::map<int, int>{{0, 7'000}, {2, 2'500}, {3, 500}}));
  EXPECT_EQ(groups, (std::map<uint32_t, int>{{0, 6'000}, {1, 4'000}}));
}

TEST_F(PopulationTest, ArrivesByTheCycle) {
  plan_.groups = {{0, 10'000, 1}};
  std::map<int64_t, int> hours;
  for (const JobDraft& job : draft(2)) {
    const int64_t day = job.submit_ms / 86'400'000;
    EXPECT_TRUE(day != 2 && day != 3) << "Saturday and Sunday, if the first day is a Thursday";
    ++hours[job.submit_ms / 3'600'000 % 24];
  }
  ASSERT_EQ(hours.size(), 2u);
  EXPECT_NEAR(hours[15] / 1e4, 0.75, 0.02);
}

/// Autocorrelation at lag 1 of the logarithms of the durations.
double correlation_of_neighbours(const std::vector<JobDraft>& jobs, uint32_t group) {
  double mean = 0;
  for (const JobDraft& job : jobs) mean += std::log(job.duration_s) / double(jobs.size());
  double product = 0;
  double variance = 0;
  for (size_t i = 1; i < jobs.size(); ++i) {
    if (jobs[i].group != group || jobs[i - 1].group != group) continue;
    const double a = std::log(jobs[i - 1].duration_s) - mean;
    const double b = std::log(jobs[i].duration_s) - mean;
    product += a * b;
    variance += a * a;
  }
  return product / variance;
}

TEST_F(PopulationTest, JobsOfABurstRunAboutAsLong) {
  plan_.burst_exponent = 0.5;  // long bursts
  const auto jobs = draft(3);
  EXPECT_GT(correlation_of_neighbours(jobs, 0), 0.4);
  EXPECT_NEAR(correlation_of_neighbours(jobs, 1), 0, 0.1);
}

TEST_F(PopulationTest, LimitsHoldButForThoseThatExceedThem) {
  auto jobs = draft(4);
  const auto before = jobs;
  LimitRules rules;
  rules.max_s = {168 * 3'600, 24 * 3'600};
  rules.exceeded = 200;
  Random random(5);
  give_limits(jobs, rules, random);
  int exceeded = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobDraft& job = jobs[i];
    EXPECT_GT(job.limit_s, 0);
    EXPECT_LE(job.limit_s, rules.max_s[job.group]);
    if (job.duration_s <= job.limit_s) {
      EXPECT_EQ(job.duration_s, before[i].duration_s);
      continue;
    }
    ++exceeded;
    EXPECT_EQ(job.limit_s, job.duration_s > rules.max_s[job.group]
                               ? rules.max_s[job.group]
                               : customary_limit_below_s(job.duration_s));
    EXPECT_LE(job.duration_s, before[i].duration_s);
    if (before[i].duration_s <= rules.max_s[job.group]) {
      EXPECT_LE(job.duration_s, job.limit_s + 20);
      EXPECT_LT(before[i].duration_s, 1.05 * job.limit_s);
    }
  }
  EXPECT_EQ(exceeded, 200);
}

TEST_F(PopulationTest, ExtremesOccurOnce) {
  plan_.strata[0].extremes = true;
  int least = 0;
  int largest = 0;
  for (const JobDraft& job : draft(6)) {
    least += job.duration_s == 10 ? 1 : 0;
    largest += job.duration_s == 200'000 ? 1 : 0;
  }
  EXPECT_GE(least, 1);
  EXPECT_EQ(largest, 1);
}

}  // namespace
}  // namespace goban::study::history
