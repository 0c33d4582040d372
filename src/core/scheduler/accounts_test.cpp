#include "core/scheduler/accounts.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace goban::core::scheduler {
namespace {

using model::AccountId;
using model::UserId;

const AccountId kPhysics(0u);
const AccountId kOptics(1u);
const UserId kAnn(0u);
const UserId kBob(1u);

TimeNs at(double seconds) { return base::from_seconds(seconds); }

model::SiteRules rules() {
  model::SiteRules rules;
  rules.half_life_ns = at(1000);
  rules.accounts.resize(2);
  rules.accounts[kPhysics.index()].limits = {.max_gpus = 10, .max_jobs = 3};
  rules.accounts[kOptics.index()].parent = kPhysics;
  rules.accounts[kOptics.index()].limits_each.max_gpus = 4;
  rules.users.push_back({.account = kOptics, .user = kBob, .shares = 1, .limits = {}});
  rules.users.back().limits.max_jobs = 1;
  return rules;
}

TEST(Accounts, UsageDecaysAsItAccrues) {
  const model::SiteRules r = rules();
  Accounts books(r);
  const uint32_t ann = books.association(kPhysics, kAnn);
  books.started(ann, 4, at(100));
  books.stopped(ann, 4, at(700));
  // The integral, step by step: the usage of each second is halved every 1,000 s.
  double expected = 0;
  for (int second = 100; second < 700; ++second) {
    expected += 4 * std::exp2(-(2000 - second - 0.5) / 1000.0);
  }
  EXPECT_NEAR(books.usage_gpu_s(ann, at(2000)), expected, expected * 1e-6);
  EXPECT_NEAR(books.usage_gpu_s(ann, at(3000)), expected / 2, expected * 1e-6);
}

TEST(Accounts, WithoutHalfLifeNothingIsForgotten) {
  model::SiteRules r;
  r.half_life_ns = 0;
  Accounts books(r);
  const uint32_t ann = books.association(kPhysics, kAnn);
  books.started(ann, 4, at(100));
  books.stopped(ann, 4, at(700));
  EXPECT_DOUBLE_EQ(books.usage_gpu_s(ann, at(1e8)), 2400);
}

TEST(Accounts, LimitsHoldForUsersAccountsAndThoseAbove) {
  const model::SiteRules r = rules();
  Accounts books(r);
  const uint32_t ann = books.association(kOptics, kAnn);
  const uint32_t bob = books.association(kOptics, kBob);
  const uint32_t boss = books.association(kPhysics, kBob);
  EXPECT_EQ(books.association(kOptics, kAnn), ann);
  EXPECT_EQ(books.blocking(ann, 4), Accounts::kNone);
  EXPECT_EQ(books.blocking(ann, 5), books.leaf(ann));
  books.started(ann, 4, 0);
  EXPECT_EQ(books.blocking(ann, 1), books.leaf(ann));
  books.started(bob, 1, 0);
  EXPECT_EQ(books.blocking(bob, 1), books.leaf(bob));  // one job at a time
  const Accounts::Node physics = books.parent(books.leaf(boss));
  EXPECT_EQ(books.blocking(boss, 6), physics);
  EXPECT_EQ(books.blocking(boss, 5), Accounts::kNone);
  books.started(boss, 1, 0);
  EXPECT_EQ(books.blocking(boss, 1), physics);  // three jobs run below it
  EXPECT_EQ(books.headroom_gpus(physics), -1);
  books.stopped(ann, 4, 0);
  EXPECT_EQ(books.headroom_gpus(physics), 8);
}

}  // namespace
}  // namespace goban::core::scheduler
