#include "base/statistics/rank_correlation.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace goban::base::statistics {
namespace {

using testing::ElementsAre;

TEST(RankCorrelation, TiesShareTheirMeanRank) {
  EXPECT_THAT(mid_ranks(std::vector<double>{10, 20, 10, 5, 20, 20}),
              ElementsAre(2.5, 5, 2.5, 1, 5, 5));
  EXPECT_TRUE(mid_ranks({}).empty());
}

// The example of the encyclopedias: intelligence quotient against hours of television; -29/165.
TEST(RankCorrelation, KnownValueWithoutTies) {
  const std::vector<double> iq{106, 100, 86, 101, 99, 103, 97, 113, 112, 110};
  const std::vector<double> hours{7, 27, 2, 50, 28, 29, 20, 12, 6, 17};
  EXPECT_NEAR(*spearman(iq, hours), -29.0 / 165, 1e-12);
}

// By hand, from the ranks 1.5 1.5 3 4 and 1 3 3 3.
TEST(RankCorrelation, KnownValueWithTies) {
  const std::vector<double> x{1, 1, 2, 3};
  const std::vector<double> y{1, 2, 2, 2};
  // Deviations of the ranks: x -1 -1 .5 1.5, y -1.5 .5 .5 .5: xy = 1.5 - .5 + .25 + .75 = 2.
  EXPECT_NEAR(*spearman(x, y), 2 / std::sqrt(4.5 * 3), 1e-12);
}

TEST(RankCorrelation, NothingWithoutVariation) {
  EXPECT_FALSE(spearman(std::vector<double>{1}, std::vector<double>{2}));
  EXPECT_FALSE(spearman(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}));
}

TEST(RankCorrelation, IntervalIsReproducibleAndHoldsTheValue) {
  std::vector<double> x;
  std::vector<double> y;
  BootstrapOptions options;
  options.replicates = 500;
  for (uint32_t i = 0; i < 80; ++i) {
    x.push_back(i);
    y.push_back(i + 40 * std::sin(i * 12.9898));
    options.strata.push_back(i / 20);
  }
  const auto first = spearman_interval(x, y, options);
  const auto second = spearman_interval(x, y, options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->low, second->low);
  EXPECT_EQ(first->high, second->high);
  EXPECT_EQ(first->replicates, 500U);
  EXPECT_LT(first->low, first->rho);
  EXPECT_GT(first->high, first->rho);
  options.seed = 2;
  EXPECT_NE(spearman_interval(x, y, options)->low, first->low);
  // Resampling within strata preserves the trend between them, so the interval is narrower.
  BootstrapOptions whole = options;
  whole.strata.clear();
  const auto wide = spearman_interval(x, y, whole);
  EXPECT_LT(first->high - first->low, wide->high - wide->low);
}

RC_GTEST_PROP(RankCorrelation, DependsOnOrderAlone, (const std::vector<int16_t>& raw)) {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> bent;
  for (size_t i = 0; i < raw.size(); ++i) {
    x.push_back(raw[i]);
    y.push_back(raw[(i * 7 + 3) % raw.size()]);
    bent.push_back(std::exp(raw[i] / 5000.0));
  }
  const auto straight = spearman(x, y);
  const auto curved = spearman(bent, y);
  RC_ASSERT(straight.has_value() == curved.has_value());
  if (straight) RC_ASSERT(std::abs(*straight - *curved) < 1e-12);
  if (straight) RC_ASSERT(std::abs(*spearman(x, x) - 1) < 1e-12);
}

}  // namespace
}  // namespace goban::base::statistics
