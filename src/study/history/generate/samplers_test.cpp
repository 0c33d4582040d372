#include "study/history/generate/samplers.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace goban::study::history {
namespace {

using base::Random;

TEST(Samplers, QuotasAddUpAndFollowTheWeights) {
  EXPECT_EQ(quotas({1, 1, 1}, 10), (std::vector<int64_t>{4, 3, 3}));
  EXPECT_EQ(quotas({0.55, 0.45}, 100), (std::vector<int64_t>{55, 45}));
  EXPECT_EQ(quotas({5, 0, 3}, 1), (std::vector<int64_t>{1, 0, 0}));
  Random random(1);
  for (int round = 0; round < 1'000; ++round) {
    std::vector<double> weights(1 + random.below(20));
    for (double& weight : weights) weight = random.uniform();
    weights[0] += 0.1;
    const auto total = static_cast<int64_t>(random.below(100'000));
    const auto parts = quotas(weights, total);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), int64_t{0}), total);
    for (size_t i = 0; i < parts.size(); ++i) {
      const double exact = weights[i] / sum * static_cast<double>(total);
      EXPECT_LT(std::abs(static_cast<double>(parts[i]) - exact), 1 + 1e-6) << "round " << round;
    }
  }
}

TEST(Samplers, ZipfExponentGivesTheShare) {
  const double exponent = zipf_exponent(389, 23, 0.8);
  const auto weights = zipf_weights(389, exponent);
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.begin() + 23, 0.0) / all, 0.8, 1e-12);
  EXPECT_NEAR(zipf_exponent(100, 10, 0.1), 0, 1e-12);
}

TEST(Samplers, ParetoHasItsTail) {
  Random random(3);
  constexpr int kDraws = 200'000;
  int four_or_more = 0;
  int most = 0;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t value = draw_pareto(random, 1.5, 16);
    ASSERT_GE(value, 1);
    ASSERT_LE(value, 16);
    four_or_more += value >= 4 ? 1 : 0;
    most += value == 16 ? 1 : 0;
  }
  EXPECT_NEAR(four_or_more / double{kDraws}, 1 / 8.0, 0.003);  // 4^-1.5
  EXPECT_NEAR(most / double{kDraws}, 1 / 64.0, 0.002);         // all values beyond 16 are included
}

TEST(Samplers, ShuffleKeepsEveryValueAndReachesEveryOrder) {
  Random random(4);
  std::vector<std::vector<int>> seen;
  for (int round = 0; round < 200; ++round) {
    std::vector<int> values = {1, 2, 3};
    shuffle(values, random);
    EXPECT_TRUE(std::ranges::is_permutation(values, std::vector<int>{1, 2, 3}));
    if (std::ranges::find(seen, values) == seen.end()) seen.push_back(values);
  }
  EXPECT_EQ(seen.size(), 6u);
}

TEST(Samplers, CustomaryLimits) {
  EXPECT_EQ(customary_limit_s(1), 1'800);
  EXPECT_EQ(customary_limit_s(3'600), 3'600);
  EXPECT_EQ(customary_limit_s(3'601), 7'200);
  EXPECT_EQ(customary_limit_s(169 * 3'600), 8 * 86'400);
  EXPECT_EQ(customary_limit_below_s(1'800), 0);
  EXPECT_EQ(customary_limit_below_s(3'600), 1'800);
  EXPECT_EQ(customary_limit_below_s(3'601), 3'600);
}

}  // namespace
}  // namespace goban::study::history
