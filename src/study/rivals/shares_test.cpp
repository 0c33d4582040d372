// The programs that share time: each solution is feasible, and no other one is better, by a bound
// that the solver does not use.
#include "study/rivals/shares.hpp"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

#include "base/random.hpp"

namespace goban::study::rivals {
namespace {

using testing::ElementsAre;

ShareProblem random_problem(uint64_t seed) {
  base::Random random(seed);
  ShareProblem problem;
  problem.capacity = 32;
  const size_t jobs = 1 + random.below(60);
  for (size_t i = 0; i < jobs; ++i) {
    problem.gpus.push_back(static_cast<double>(1 << random.below(4)));
    problem.rate.push_back(1 + static_cast<double>(random.below(1000)) / 10);
    problem.left.push_back(static_cast<double>(random.below(100'000)) - 100);
    problem.waited_s.push_back(static_cast<double>(random.below(10'000)));
    problem.told_s.push_back(static_cast<double>(random.below(5'000)) + 1);
    problem.alone.push_back(problem.rate.back() / 2);
  }
  return problem;
}

void expect_feasible(const ShareProblem& problem, const std::vector<double>& shares) {
  ASSERT_EQ(shares.size(), problem.gpus.size());
  double used = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_TRUE(shares[i] >= 0 && shares[i] <= 1) << shares[i];
    used += problem.gpus[i] * shares[i];
  }
  EXPECT_LE(used, problem.capacity + 1e-9);
}

TEST(Shares, MaxMinReachesItsBound) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ShareProblem problem = random_problem(seed);
    const auto shares = max_min_shares(problem);
    expect_feasible(problem, shares);
    double least = INFINITY;
    double bound = 32.0 / static_cast<double>(shares.size());  // the mean is no larger
    for (size_t i = 0; i < shares.size(); ++i) {
      least = std::min(least, problem.gpus[i] * shares[i]);
      bound = std::min(bound, problem.gpus[i]);
    }
    EXPECT_NEAR(least, bound, 1e-12 * bound);
  }
}

// Any price of a GPU bounds the throughput from above; the price of the last job served reaches it.
TEST(Shares, MaxThroughputReachesItsDual) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ShareProblem problem = random_problem(seed);
    const auto shares = max_throughput_shares(problem);
    expect_feasible(problem, shares);
    double reached = 0;
    double dual = INFINITY;
    std::vector<double> prices = {0};
    for (size_t i = 0; i < shares.size(); ++i) {
      reached += problem.rate[i] * shares[i];
      prices.push_back(problem.rate[i] / problem.gpus[i]);
    }
    for (const double price : prices) {
      double value = price * problem.capacity;
      for (size_t i = 0; i < shares.size(); ++i) {
        value += std::max(0.0, problem.rate[i] - price * problem.gpus[i]);
      }
      dual = std::min(dual, value);
    }
    EXPECT_NEAR(reached, dual, 1e-9 * dual);
  }
}

TEST(Shares, MinDurationIsWithinItsBisection) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ShareProblem problem = random_problem(seed);
    const auto shares = min_duration_shares(problem);
    expect_feasible(problem, shares);
    double needed_s = 0;  // at this total the cluster is full or a job needs all of its time
    double total_s = 0;   // that the shares keep
    for (size_t i = 0; i < shares.size(); ++i) {
      if (problem.left[i] <= 0) continue;
      needed_s += problem.gpus[i] * problem.left[i] / problem.rate[i] / 32;
      total_s = std::max(total_s, problem.left[i] / (problem.rate[i] * shares[i]));
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      needed_s = std::max(needed_s, problem.left[i] / problem.rate[i]);
    }
    EXPECT_GE(total_s, needed_s * (1 - 1e-12));
    EXPECT_LE(total_s, std::max(105.0, needed_s * 1.05));
  }
}

/// The centre is where no job gains by a small change: the sum of the logarithms of all slacks is
/// largest. Compared with other points of the same set.
TEST(Shares, MinDurationIsTheCentreOfWhatKeepsItsTime) {
  const ShareProblem problem{.capacity = 4,
                             .gpus = {1, 2, 4},
                             .rate = {1, 2, 1},
                             .left = {900, 600, 700},
                             .waited_s = {},
                             .told_s = {},
                             .alone = {}};
  const auto shares = min_duration_shares(problem);
  // The published bisection from 100 and 1e6: the last time that fits.
  double low = 100;
  double total_s = 1e6;
  while (1.05 * low < total_s) {
    const double middle = (low + total_s) / 2;
    double used = 0;
    bool fits = true;
    for (size_t i = 0; i < 3; ++i) {
      const double share = problem.left[i] / middle / problem.rate[i];
      used += problem.gpus[i] * share;
      fits = fits && share <= 1;
    }
    (fits && used <= 4 ? total_s : low) = middle;
  }
  const auto value = [&](const std::vector<double>& x) {
    double sum = 0;
    double left = 4;
    for (size_t i = 0; i < 3; ++i) {
      sum += std::log(x[i]) + std::log(1 - x[i]) +
             std::log(x[i] - problem.left[i] / total_s / problem.rate[i]);
      left -= problem.gpus[i] * x[i];
    }
    return sum + std::log(left);
  };
  const double best = value(shares);
  ASSERT_TRUE(std::isfinite(best));
  for (size_t i = 0; i < 3; ++i) {
    for (const double change : {-1e-4, 1e-4}) {
      std::vector<double> other = shares;
      other[i] += change;
      EXPECT_FALSE(value(other) > best) << i;
    }
  }
}

/// GPUs that a ratio needs; infinite if a job cannot keep it.
double needed_gpus(const ShareProblem& problem, double ratio) {
  double used = 0;
  for (size_t i = 0; i < problem.gpus.size(); ++i) {
    if (problem.left[i] <= 0) continue;
    const double time_s =
        ratio * (problem.told_s[i] + problem.left[i] / problem.alone[i]) - problem.waited_s[i];
    const double share = problem.left[i] / (problem.rate[i] * time_s);
    if (time_s <= 0 || share > 1) return INFINITY;
    used += problem.gpus[i] * share;
  }
  return used;
}

TEST(Shares, FairRatioIsTheLeast) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const ShareProblem problem = random_problem(seed);
    const FairRatio fair = fair_ratio_shares(problem);
    expect_feasible(problem, fair.shares);
    EXPECT_LE(needed_gpus(problem, fair.ratio * (1 + 1e-9)), 32 + 1e-6);
    EXPECT_GT(needed_gpus(problem, fair.ratio * (1 - 1e-9)), 32 - 1e-6);
  }
}

TEST(Shares, EqualSharesAreAtMostOne) {
  ShareProblem problem;
  problem.capacity = 4;
  problem.gpus.assign(2, 1);
  EXPECT_THAT(equal_shares(problem), ElementsAre(1, 1));
  problem.gpus.assign(8, 1);
  EXPECT_EQ(equal_shares(problem), std::vector<double>(8, 0.5));
}

// On two machines a fifth of 15 jobs counts: of 1, 2 and 3 s, 1 then 2, and 3 alone, wait the least
// in all.
TEST(Shares, AlloxServesTheShortestFirst) {
  ShareProblem problem;
  problem.capacity = 2;
  problem.gpus.assign(15, 1);
  problem.rate.assign(15, 1);
  problem.left.assign(15, 0.5);
  problem.left[0] = 3;
  problem.left[1] = 2;
  problem.left[2] = 1;
  std::vector<double> expected(15, 0);
  expected[0] = expected[2] = 1;
  EXPECT_EQ(allox_shares(problem, std::vector<double>(15, 0)), expected);
  // A job with all of its time keeps its machine; of the others the first by submission counts.
  problem.gpus = {1, 2, 1};
  problem.rate = {1, 1, 1};
  problem.left = {3, 2, 1};
  EXPECT_THAT(allox_shares(problem, std::vector<double>{1, 0.25, 0}), ElementsAre(1, 0.5, 0));
}

}  // namespace
}  // namespace goban::study::rivals
