#include "core/model/name_pattern.hpp"

#include <gtest/gtest.h>

namespace goban::core::model {
namespace {

TEST(NamePattern, NamesNodes) {
  EXPECT_EQ(NamePattern::parse("g{:04}")->name(7), "g0007");
  EXPECT_EQ(NamePattern::parse("g{:04}")->name(12345), "g12345");
  EXPECT_EQ(NamePattern::parse("r1-{}.x")->name(0), "r1-0.x");
  EXPECT_EQ(NamePattern::parse("{{{}}}")->name(3), "{3}");
  EXPECT_EQ(NamePattern::parse("plain")->name(3), "plain");
  EXPECT_FALSE(NamePattern::parse("plain")->has_number());
}

TEST(NamePattern, IsFoundInAName) {
  for (const char* name : {"g0007", "node9", "r1-n2.local", "{5}", "plain", "", "0", "00"}) {
    int64_t number = -1;
    const NamePattern pattern = NamePattern::of_name(name, number);
    EXPECT_EQ(pattern.name(number), name);
    EXPECT_EQ(NamePattern::parse(pattern.text()), pattern) << pattern.text();
  }
  int64_t number = -1;
  EXPECT_EQ(NamePattern::of_name("n1234567890123", number).has_number(), false);
}

}  // namespace
}  // namespace goban::core::model
