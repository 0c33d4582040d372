#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/counted.hpp"

namespace goban::base {
namespace {

TEST(Text, IsTrimmedOnBothSides) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("\n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, ChangesItsCaseByAsciiOnly) {
  EXPECT_EQ(lowered("GPU-\xc3\x84z"), "gpu-\xc3\x84z");
  EXPECT_EQ(uppered("gpu-\xc3\xa4z[`{"), "GPU-\xc3\xa4Z[`{");
}

TEST(Text, IsQuotedSoThatOneLineHoldsIt) {
  EXPECT_EQ(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\nd\"");
  EXPECT_EQ(quoted(""), "\"\"");
}

TEST(Text, CountsAgreeWithTheirNouns) {
  EXPECT_EQ(counted(0, "job"), "0 jobs");
  EXPECT_EQ(counted(1, "job"), "1 job");
  EXPECT_EQ(counted(size_t{2}, "job"), "2 jobs");
  EXPECT_EQ(counted(1, "job was", "jobs were"), "1 job was");
  EXPECT_EQ(counted(20, "job was", "jobs were"), "20 jobs were");
}

TEST(Text, AlternativesReadAsASentence) {
  EXPECT_EQ(alternatives({}), "");
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace goban::base
