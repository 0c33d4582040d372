#include "base/statistics/summary.hpp"

#include <cmath>
#include <gmock/gmock.h>

namespace goban::base::statistics {
namespace {

TEST(Summary, EmptyHasNoNumbers) {
  EXPECT_FALSE(mean({}));
  EXPECT_FALSE(standard_deviation({}, SigmaRule::Population));
  EXPECT_FALSE(quantile({}, 0.5));
  EXPECT_FALSE(summarize({}));
}

TEST(Summary, SigmaOfNAndOfNMinusOne) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(*standard_deviation(values, SigmaRule::Population), 2);
  EXPECT_DOUBLE_EQ(*standard_deviation(values, SigmaRule::Sample), std::sqrt(32.0 / 7));
  EXPECT_EQ(*standard_deviation(std::vector<double>{3}, SigmaRule::Sample), 0);
}

TEST(Summary, SumKeepsWhatPlainAdditionLoses) {
  EXPECT_EQ(sum(std::vector<double>{1, 1e100, 1, -1e100}), 2);
}

// R: quantile(c(1,2,3,4,10), c(0,.1,.25,.5,.9,1), type = 7) and type = 1.
TEST(Summary, QuantilesByTheirRules) {
  const std::vector<double> sorted{1, 2, 3, 4, 10};
  const std::vector<double> shares{0, 0.1, 0.25, 0.5, 0.9, 1};
  const std::vector<double> linear{1, 1.4, 2, 3, 7.6, 10};
  const std::vector<double> nearest{1, 1, 2, 3, 10, 10};
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_DOUBLE_EQ(*quantile(sorted, shares[i]), linear[i]) << shares[i];
    EXPECT_EQ(*quantile(sorted, shares[i], QuantileRule::NearestRank), nearest[i]) << shares[i];
  }
  EXPECT_EQ(*quantile(std::vector<double>{7}, 0.3), 7);
}

TEST(Summary, RowOfATable) {
  const auto row = summarize({4, 1, 3, 2});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->count, 4U);
  EXPECT_DOUBLE_EQ(row->mean, 2.5);
  EXPECT_DOUBLE_EQ(row->sd, std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(row->median, 2.5);
  EXPECT_EQ(row->min, 1);
  EXPECT_EQ(row->max, 4);
}

}  // namespace
}  // namespace goban::base::statistics
