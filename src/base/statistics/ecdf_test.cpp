#include "base/statistics/ecdf.hpp"

#include <gtest/gtest.h>

namespace goban::base::statistics {
namespace {

TEST(Ecdf, StepsAtDistinctValues) {
  const Ecdf curve(std::vector<double>{3, 1, 3, 2});
  ASSERT_EQ(curve.steps().size(), 3U);
  EXPECT_EQ(curve.steps()[0].value, 1);
  EXPECT_EQ(curve.steps()[0].share, 0.25);
  EXPECT_EQ(curve.steps()[1].share, 0.5);
  EXPECT_EQ(curve.steps()[2].share, 1);
  EXPECT_EQ(curve.share_at_most(0.99), 0);
  EXPECT_EQ(curve.share_at_most(2.5), 0.5);
  EXPECT_EQ(curve.share_at_most(3), 1);
}

TEST(Ecdf, WeightsCount) {
  const std::vector<double> values{1, 2, 3};
  const std::vector<double> weights{1, 0, 3};
  const Ecdf curve(values, weights);
  ASSERT_EQ(curve.steps().size(), 2U);
  EXPECT_EQ(curve.share_at_most(2), 0.25);
}

TEST(Ecdf, EmptyIsEmpty) {
  const Ecdf curve(std::vector<double>{});
  EXPECT_TRUE(curve.steps().empty());
  EXPECT_EQ(curve.share_at_most(1), 0);
}

}  // namespace
}  // namespace goban::base::statistics
