#include "base/statistics/signed_rank.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace goban::base::statistics {
namespace {

/// Whether the interval excludes 0 for these signs of the differences 1, 2, 3, ...
bool excludes(unsigned signs, size_t count) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    // Powers of two: no two sums of pairs are equal.
    const double size = std::ldexp(1.0, static_cast<int>(i));
    values.push_back((signs >> i & 1U) != 0 ? size : -size);
  }
  const auto interval = signed_rank_interval_95(values);
  return interval && (interval->low > 0 || interval->high < 0);
}

TEST(SignedRank, TooFewDifferencesHaveNoInterval) {
  const std::vector<double> five(5, 1.0);
  EXPECT_FALSE(signed_rank_interval_95(five));
  EXPECT_FALSE(signed_rank_interval_95({}));
}

TEST(SignedRank, SixOfOneSignExcludeZero) {
  const std::vector<double> six = {1, 2, 3, 4, 5, 6};
  const auto interval = signed_rank_interval_95(six);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->middle, 3.5);
  EXPECT_DOUBLE_EQ(interval->low, 1);
  EXPECT_DOUBLE_EQ(interval->high, 6);
}

// Table A.4 of Hollander and Wolfe: with n = 10, P(T+ >= 47) = 0.024, so that the interval at
// 95.1 % goes from the 9th to the 47th of the 55 means.
TEST(SignedRank, TheIntervalOfTenIsThatOfTheTables) {
  std::vector<double> values;
  for (int i = 0; i < 10; ++i) values.push_back(std::pow(1.7, i) * (i % 3 == 0 ? -1 : 1));
  std::vector<double> means;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  const auto interval = signed_rank_interval_95(values);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, means[8]);
  EXPECT_DOUBLE_EQ(interval->high, means[46]);
}

TEST(SignedRank, WithoutAnEffectZeroIsExcludedInAtMostFivePercentOfAllSigns) {
  for (const size_t count : {6U, 8U, 10U, 12U}) {
    int excluded = 0;
    for (unsigned signs = 0; signs < 1U << count; ++signs) excluded += excludes(signs, count);
    const double rate = excluded / std::ldexp(1.0, static_cast<int>(count));
    EXPECT_LE(rate, 0.05) << count;
    EXPECT_GT(rate, 0.025) << count << ": the interval is wider than it needs to be";
  }
}

TEST(RateUpper, IsThatOfTheBinomialDistribution) {
  // (1 - p)^n = 0.05 without a hit: the rule of three.
  EXPECT_NEAR(rate_upper_95(0, 100), 1 - std::pow(0.05, 0.01), 1e-9);
  EXPECT_NEAR(rate_upper_95(50, 1000), 0.06294, 2e-4);  // R: binom.test(50, 1000, alternative="l")
  EXPECT_DOUBLE_EQ(rate_upper_95(7, 7), 1);
}

}  // namespace
}  // namespace goban::base::statistics
