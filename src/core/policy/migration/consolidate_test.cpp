#include <gtest/gtest.h>

#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

/// Nodes of two GPUs: 120 W idle, 20 W asleep, 10 s and 1.2 kJ per transition, so that sleeping
/// pays from 20 s on. A GPU with app 0 or 1 draws 200 W, with both 300 W, including 50 W of the
/// host.
TestSite site() {
  knowledge::PowerModel power;
  power.num_gpus = 2;
  power.host_idle_w = 100;
  power.gpu_idle_w = 10;
  power.sleep = {.power_w = 20, .enter_s = 10, .enter_j = 1200, .wake_s = 10, .wake_j = 1200};
  return {.gpus = 2,
          .measured = {{.apps = {0}, .slowdown = {1}, .power_w = 200},
                       {.apps = {1}, .slowdown = {1}, .power_w = 200},
                       {.apps = {0, 1}, .slowdown = {1.25, 1.25}, .power_w = 300}},
          .power = {power}};
}

class Consolidate : public testing::Test {
 public:
  Consolidate() { view.set_demand(0); }

  bool pays(std::initializer_list<JobId> jobs) {
    Evacuation evacuation{.node = model::NodeId(0U), .moves = {}};
    for (const JobId job : jobs) evacuation.moves.push_back({&view.job(job), {model::GpuId(2U)}});
    return test_part("consolidate", options).migration->pays(view, evacuation);
  }

  TestSharing view{site()};
  PolicyOptions options;
};

TEST_F(Consolidate, WhatTheNodeSavesAgainstOneRestart) {
  // A restart of 60 s at 200 W costs 12 kJ. The node sleeps for 140 of 160 s, of which 20 s and 2.4
  // kJ are transitions: 16.8 kJ - 2.4 kJ - 2.4 kJ are saved.
  const JobId job = view.run({.work_s = 161}, {0});
  EXPECT_TRUE(pays({job}));
  view.set_work_left(job, 159);
  EXPECT_FALSE(pays({job}));
  view.set_work_left(job, 10);
  EXPECT_FALSE(pays({job})) << "too short to sleep";
}

TEST_F(Consolidate, TimeHasAPrice) {
  const JobId job = view.run({.work_s = 200}, {0});
  options.prices.delay_price_w = 66;  // 16 kJ saved; 12 kJ + 60 s x 66 W
  EXPECT_TRUE(pays({job}));
  options.prices.delay_price_w = 67;
  EXPECT_FALSE(pays({job}));
}

TEST_F(Consolidate, NodesDoNotStayEmptyForEver) {
  const JobId job = view.run({.work_s = 1e6}, {0});
  options.migration.move_horizon_s = 161;
  EXPECT_TRUE(pays({job}));
  options.migration.move_horizon_s = 159;
  EXPECT_FALSE(pays({job}));
}

TEST_F(Consolidate, WhoseWorkNobodyKnowsRunsAsLongAgain) {
  const JobId job = view.run({.work_s = -1}, {0});
  view.pass(159);
  EXPECT_FALSE(pays({job}));
  view.pass(2);
  EXPECT_TRUE(pays({job}));
}

TEST_F(Consolidate, SlowerGpusCostTimeAndJoules) {
  const JobId job = view.run({.work_s = 1000}, {0});
  // 96 kJ are saved; 60 s and 1000 s x 0.42 at 200 W cost the same.
  view.set_slowdown_elsewhere(job, 1.41);
  EXPECT_TRUE(pays({job}));
  view.set_slowdown_elsewhere(job, 1.43);
  EXPECT_FALSE(pays({job}));
}

TEST_F(Consolidate, PromisesStandTheRestart) {
  const JobId job = view.run({.work_s = 1000, .deadline_s = 1060}, {0});
  EXPECT_TRUE(pays({job}));
  view.pass(1);  // no progress: no slack is left
  EXPECT_FALSE(pays({job}));
  view.pass(60);
  EXPECT_TRUE(pays({job})) << "it is lost where it is";
}

TEST_F(Consolidate, PromisesAreNotLostByTheMove) {
  const JobId job = view.run({.work_s = 1000, .deadline_s = 1100}, {0});
  view.set_slowdown_elsewhere(job, 1.2);
  EXPECT_FALSE(pays({job}));
}

TEST_F(Consolidate, NeighboursMoveTogether) {
  const JobId one = view.run({.app = 0, .work_s = 175}, {0});
  const JobId other = view.run({.app = 1, .work_s = 100}, {0});
  // At a slowdown of 1.25, 220 s are 176 s of work: 18 kJ saved, the same as 60 s at 300 W.
  EXPECT_FALSE(pays({one, other}));
  view.set_work_left(one, 177);
  EXPECT_TRUE(pays({one, other}));
}

TEST_F(Consolidate, WithoutWattsNothingPays) {
  TestSite blind = site();
  blind.power.clear();
  TestSharing nobody_knows(blind);
  const JobId job = nobody_knows.run({.work_s = 1e6}, {0});
  EXPECT_FALSE(test_part("consolidate")
                   .migration->pays(nobody_knows,
                                    {.node = model::NodeId(0U),
                                     .moves = {{&nobody_knows.job(job), {model::GpuId(2U)}}}}));
}

TEST_F(Consolidate, WhoMayBeMoved) {
  const auto policy = test_part("consolidate", options).migration;
  const JobId job = view.run({}, {0});
  const JobId urgent = view.run({.priority = 1}, {1});
  EXPECT_FALSE(policy->may_move(view, view.job(job))) << "it just started";
  view.pass(600);
  EXPECT_TRUE(policy->may_move(view, view.job(job)));
  EXPECT_FALSE(policy->may_move(view, view.job(urgent)));
  model::JobState stays = view.job(job);
  stays.request.stays = true;
  EXPECT_FALSE(policy->may_move(view, stays)) << "it cannot restart";
  view.books().set_locked(view.group_of(0), true);
  EXPECT_FALSE(policy->may_move(view, view.job(job))) << "it is being measured";
  EXPECT_FALSE(test_part("stay").migration->may_move(view, view.job(job)));
  EXPECT_EQ(test_part("stay").migration->interval_ns(), base::kNever);
}

}  // namespace
}  // namespace goban::core::policy
