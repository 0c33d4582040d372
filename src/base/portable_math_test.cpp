#include "base/portable_math.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace goban::base {
namespace {

TEST(PortableMath, AgreesWithTheLibrary) {
  for (double x = -690; x < 690; x += 0.37) {
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 4e-16) << x;
  }
  for (double x = 1e-300; x < 1e300; x *= 1.9) {
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * std::fabs(std::log(x)) + 1e-17) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(1e300), kInfinity);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(portable_exp(-std::nan(""))));
  EXPECT_DOUBLE_EQ(portable_log(1 + 1e-9), std::log(1 + 1e-9));
}

}  // namespace
}  // namespace goban::base
