#include "train/mesh/name_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/mesh/graph.hpp"

namespace goban::train::mesh {
namespace {

TEST(NamePattern, APartOfTheNameMatches) {
  const NamePattern pattern("(^|/)(bias|scale)$");
  EXPECT_TRUE(pattern.is_in("block_0/dense/bias"));
  EXPECT_TRUE(pattern.is_in("scale"));
  EXPECT_FALSE(pattern.is_in("block_0/bias/weight"));
}

TEST(NamePattern, NoExpressionTakesForEver) {
  const NamePattern pattern("(.*)*(.*)*(.*)*Z");
  EXPECT_FALSE(pattern.is_in(std::string(200, 'a')));
}

TEST(NamePattern, WrongOnesAreRefusedInWords) {
  const auto said = [](const std::string& text) {
    try {
      NamePattern pattern(text);
    } catch (const GraphError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(said("("), "'(' is not a valid regular expression: missing ): (");
  EXPECT_EQ(said("a\xff("), "'a\\xff(' is not a valid regular expression: it is not valid UTF-8");
  EXPECT_THAT(said("\x1b[31m"), testing::HasSubstr("'\\x1b[31m'"));
  EXPECT_THAT(said("a{1001}"), testing::HasSubstr("invalid repetition size"));
  EXPECT_EQ(said(std::string(90'000, 'a')),
            "a regular expression has 90000 characters; at most 1000 are allowed");
  std::string nested(300, '(');
  nested += 'a' + std::string(300, ')');
  EXPECT_EQ(said(nested), "accepted");
  EXPECT_THAT(said(std::string(490, '(') + "a{1,9}" + std::string(490, ')')),
              testing::AnyOf("accepted", testing::HasSubstr("not a valid")));
}

}  // namespace
}  // namespace goban::train::mesh
