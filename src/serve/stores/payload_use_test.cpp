#include "serve/stores/payload_use.hpp"

#include <gmock/gmock.h>

namespace goban::serve::stores {
namespace {

using testing::HasSubstr;

TEST(PayloadUse, CountsBlocksOfEachUser) {
  const live::job::Owner alice{.uid = 1, .user = "alice"};
  const live::job::Owner bob{.uid = 2, .user = "bob"};
  PayloadUse use(3 * 8192);
  EXPECT_TRUE(use.add(alice, "a", 1));
  EXPECT_TRUE(use.add(alice, "b", 4096));
  EXPECT_EQ(use.bytes_of(1), 2 * 8192) << "a block for the file and one for its folder";
  EXPECT_FALSE(use.add(alice, "c", 4097));
  EXPECT_EQ(use.bytes_of(1), 2 * 8192) << "refused ones do not count";
  EXPECT_TRUE(use.add(bob, "d", 4097)) << "somebody else";
  EXPECT_TRUE(use.add(alice, "e", 4096));
  const auto refused = use.add(alice, "f", 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("of alice use 0.02 MiB"));
  use.remove("a");
  use.remove("a");
  use.remove("unknown");
  EXPECT_EQ(use.bytes_of(1), 2 * 8192);
  EXPECT_TRUE(use.add(alice, "f", 0));
}

TEST(PayloadUse, WhatIsStoredCountsBeyondTheLimitAndOnce) {
  PayloadUse use(8192);
  use.count(1, "a", 100'000);
  use.count(1, "a", 100'000);
  EXPECT_EQ(use.bytes_of(1), 26 * 4096);
  EXPECT_FALSE(use.add({.uid = 1}, "b", 0));
  EXPECT_TRUE(PayloadUse(0).add({.uid = 1}, "b", size_t{1} << 40)) << "no limit";
}

}  // namespace
}  // namespace goban::serve::stores
