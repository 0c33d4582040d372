#include "core/staging/fast_tier.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <random>

namespace goban::core::staging {
namespace {

using Admission = FastTier::Admission;
using Keys = std::vector<std::string>;

FastTier::Verdict admit(FastTier& tier, std::vector<DataItem> items, TimeNs now) {
  return tier.admit(items, now);
}

TEST(FastTier, HoldsWhatFits) {
  FastTier tier(100);
  const auto first = admit(tier, {{"a", 60}, {"b", 40}}, 1);
  EXPECT_EQ(first.admission, Admission::Admitted);
  EXPECT_EQ(first.missing_bytes, 100);
  EXPECT_TRUE(first.leaving.empty());
  EXPECT_FALSE(tier.has("a")) << "it is not copied yet";
  tier.arrived("a");
  EXPECT_TRUE(tier.has("a"));
  const auto again = admit(tier, {{"a", 60}}, 2);
  EXPECT_EQ(again.admission, Admission::Admitted);
  EXPECT_EQ(again.missing_bytes, 0);
  EXPECT_EQ(tier.used_bytes(), 100);
}

TEST(FastTier, LeastRecentlyUsedLeavesFirst) {
  FastTier tier(100);
  for (const auto& [key, at] : {std::pair{"a", 1}, {"b", 2}, {"c", 3}}) {
    EXPECT_EQ(admit(tier, {{key, 30}}, at).admission, Admission::Admitted);
    tier.arrived(key);
    tier.release(key, at);
  }
  EXPECT_EQ(admit(tier, {{"a", 30}}, 4).missing_bytes, 0);  // "b" is the oldest now
  tier.release("a", 4);
  const auto verdict = admit(tier, {{"d", 60}}, 5);
  EXPECT_EQ(verdict.admission, Admission::Admitted);
  EXPECT_EQ(verdict.leaving, (Keys{"b", "c"}));
  EXPECT_FALSE(tier.has_room()) << "b and c are still there";
  tier.left("b");
  EXPECT_FALSE(tier.has_room());
  tier.left("c");
  EXPECT_TRUE(tier.has_room());
  EXPECT_EQ(tier.used_bytes(), 90);
}

TEST(FastTier, DataInUseStays) {
  FastTier tier(100);
  EXPECT_EQ(admit(tier, {{"a", 70}}, 1).admission, Admission::Admitted);
  EXPECT_EQ(admit(tier, {{"b", 40}}, 2).admission, Admission::Waits);
  EXPECT_EQ(tier.entries().size(), 1U) << "a job that waits takes nothing";
  tier.release("a", 3);
  const auto verdict = admit(tier, {{"b", 40}}, 4);
  EXPECT_EQ(verdict.admission, Admission::Admitted);
  EXPECT_EQ(verdict.leaving, Keys{"a"});
}

TEST(FastTier, TwoUsersKeepTheirDataUntilBothHaveReleasedIt) {
  FastTier tier(100);
  EXPECT_EQ(admit(tier, {{"a", 70}}, 1).admission, Admission::Admitted);
  EXPECT_EQ(admit(tier, {{"a", 70}}, 2).admission, Admission::Admitted);
  tier.release("a", 3);
  EXPECT_EQ(admit(tier, {{"b", 40}}, 4).admission, Admission::Waits);
  tier.release("a", 5);
  EXPECT_EQ(admit(tier, {{"b", 40}}, 6).admission, Admission::Admitted);
}

TEST(FastTier, AllOfAJobOrNothing) {
  FastTier tier(100);
  EXPECT_EQ(admit(tier, {{"a", 50}}, 1).admission, Admission::Admitted);
  // Half of it would fit: were it taken, a second such job could take the other half for ever.
  EXPECT_EQ(admit(tier, {{"b", 50}, {"c", 10}}, 2).admission, Admission::Waits);
  EXPECT_FALSE(tier.entries().contains("b"));
  EXPECT_EQ(admit(tier, {{"b", 60}, {"c", 60}}, 3).admission, Admission::TooLarge);
  EXPECT_EQ(admit(tier, {{"b", 50}, {"b", 50}}, 4).admission, Admission::Admitted)
      << "the same data twice takes its room once";
}

TEST(FastTier, WhatIsLeavingIsNotUsedAgain) {
  FastTier tier(100);
  EXPECT_EQ(admit(tier, {{"a", 100}}, 1).admission, Admission::Admitted);
  tier.arrived("a");
  tier.release("a", 1);
  EXPECT_EQ(admit(tier, {{"b", 100}}, 2).leaving, Keys{"a"});
  EXPECT_EQ(admit(tier, {{"a", 100}}, 3).admission, Admission::Waits);
  tier.stays("a", 4);  // it could not be removed
  EXPECT_FALSE(tier.has_room());
  tier.release("b", 5);
  EXPECT_EQ(admit(tier, {{"b", 100}}, 6).leaving, Keys{"a"}) << "it is tried again";
}

TEST(FastTier, EntriesSurviveARestart) {
  FastTier tier(100);
  EXPECT_EQ(admit(tier, {{"a", 30}, {"b", 30}}, 1).admission, Admission::Admitted);
  tier.arrived("a");
  tier.release("a", 2);
  FastTier second(100);
  for (const auto& [key, entry] : tier.entries()) second.restore(key, entry);
  EXPECT_EQ(second.used_bytes(), 60);
  EXPECT_TRUE(second.has("a"));
  EXPECT_EQ(admit(second, {{"c", 70}}, 3).leaving, Keys{"a"});
}

// A second implementation by a list: the head is the least recently used.
TEST(FastTier, EvictsLikeAList) {
  constexpr int64_t kCapacity = 50;
  std::mt19937 random(7);
  FastTier tier(kCapacity);
  std::list<std::pair<std::string, int64_t>> oracle;
  for (TimeNs now = 1; now < 3'000; ++now) {
    const auto number = static_cast<uint32_t>(random() % 12);
    const std::string key(1, static_cast<char>('a' + number));
    const int64_t bytes = 5 + static_cast<int64_t>(number);
    const auto found = std::ranges::find(oracle, key, &std::pair<std::string, int64_t>::first);
    const bool is_hit = found != oracle.end();
    Keys gone;
    if (is_hit) {
      oracle.erase(found);
    } else {
      int64_t used = 0;
      for (const auto& each : oracle) used += each.second;
      while (used + bytes > kCapacity) {
        used -= oracle.front().second;
        gone.push_back(oracle.front().first);
        oracle.pop_front();
      }
    }
    oracle.emplace_back(key, bytes);
    const auto verdict = admit(tier, {{key, bytes}}, now);
    ASSERT_EQ(verdict.admission, Admission::Admitted);
    ASSERT_EQ(verdict.missing_bytes, is_hit ? 0 : bytes);
    ASSERT_EQ(verdict.leaving, gone);
    for (const std::string& each : gone) tier.left(each);
    tier.arrived(key);
    tier.release(key, now);
    ASSERT_TRUE(tier.has_room());
  }
}

}  // namespace
}  // namespace goban::core::staging
