#include "cli/study/painted_gains.hpp"

#include <gtest/gtest.h>

namespace goban::cli {
namespace {

TEST(PaintedGains, AreGreenAboveTheirErrorAndRedBelow) {
  EXPECT_EQ(painted_gains("las+pal 1.0 h +12.3 % 80.0%"),
            "las+pal 1.0 h \x1b[32m+12.3 %\x1b[0m 80.0%");
  EXPECT_EQ(painted_gains("a -4.0 ±1.5 %"), "a \x1b[31m-4.0 ±1.5 %\x1b[0m");
  EXPECT_EQ(painted_gains("a +1.5 ±1.5 %"), "a +1.5 ±1.5 %") << "within its error";
  EXPECT_EQ(painted_gains("a +9.0 ±? %"), "a +9.0 ±? %") << "its error is unknown";
  EXPECT_EQ(painted_gains("a +0.0 %"), "a +0.0 %");
  EXPECT_EQ(painted_gains("a -1.0 %\n\n95 % interval -1.0 to +2.0 %"),
            "a \x1b[31m-1.0 %\x1b[0m\n\n95 % interval -1.0 to +2.0 %");
  EXPECT_EQ(painted_gains(""), "");
}

}  // namespace
}  // namespace goban::cli
