#include "base/statistics/concentration.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace goban::base::statistics {
namespace {

TEST(Concentration, GiniOfKnownSpreads) {
  EXPECT_NEAR(*gini(std::vector<double>{1, 2, 3}), 2.0 / 9, 1e-12);  // (n - 1) / 3n for 1..n
  EXPECT_NEAR(*gini(std::vector<double>{5, 5, 5, 5}), 0, 1e-12);
  EXPECT_NEAR(*gini(std::vector<double>{0, 0, 0, 8}), 0.75, 1e-12);
  EXPECT_FALSE(gini({}));
  EXPECT_FALSE(gini(std::vector<double>{0, 0}));
}

TEST(Concentration, TopShares) {
  std::vector<double> amounts(50, 1);
  amounts[7] = 50;
  amounts[20] = 30;
  amounts[30] = 20;
  EXPECT_NEAR(*top_share(amounts, 0.06), 100.0 / 147, 1e-12);  // three of fifty
  EXPECT_EQ(*top_share(amounts, 1), 1);
  EXPECT_EQ(*top_share(amounts, 0), 0);
  const auto top = holders_of(amounts, 0.5);
  ASSERT_TRUE(top);
  EXPECT_EQ(top->holders, 2U);
  EXPECT_EQ(top->all, 50U);
  EXPECT_NEAR(top->owned, 80.0 / 147, 1e-12);
}

TEST(Concentration, LorenzCurve) {
  const auto curve = lorenz(std::vector<double>{3, 1});
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[1].holders, 0.5);
  EXPECT_EQ(curve[1].owned, 0.25);
  EXPECT_EQ(curve[2].owned, 1);
}

// Gini is one minus twice the area under the Lorenz curve.
RC_GTEST_PROP(Concentration, GiniIsTheAreaOfLorenz, (const std::vector<uint16_t>& raw)) {
  const std::vector<double> amounts(raw.begin(), raw.end());
  const auto value = gini(amounts);
  const auto curve = lorenz(amounts);
  RC_ASSERT(value.has_value() == !curve.empty());
  if (!value) return;
  double area = 0;
  for (size_t i = 1; i < curve.size(); ++i) {
    area += (curve[i].holders - curve[i - 1].holders) * (curve[i].owned + curve[i - 1].owned) / 2;
  }
  RC_ASSERT(std::abs(*value - (1 - 2 * area)) < 1e-9);
}

}  // namespace
}  // namespace goban::base::statistics
