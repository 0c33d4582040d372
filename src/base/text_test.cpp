#include "base/text.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

TEST(Text, IsTrimmedOnBothSides) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("\n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsLoweredByAsciiOnly) { EXPECT_EQ(lowered("GPU-\xc3\x84z"), "gpu-\xc3\x84z"); }

TEST(Text, IsQuotedSoThatOneLineHoldsIt) {
  EXPECT_EQ(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
  EXPECT_EQ(quoted(""), "\"\"");
}

}  // namespace
}  // namespace goban::base
