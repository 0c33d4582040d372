#include <gtest/gtest.h>

#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using knowledge::PredictionLevel;

/// Without power models: a pair saves if its rates add up to more than 1.
const TestSite kSite{.measured = {{.apps = {0, 1}, .slowdown = {1.1, 1.2}},
                                  {.apps = {0, 2}, .slowdown = {1.98, 1.98}},
                                  {.apps = {0, 3}, .slowdown = {1.05, 1.05}}}};
constexpr double kUpper = 1 + 1.645 * 0.03;

std::unique_ptr<Sharing> make_eaco(const PolicyOptions& options) {
  return test_part("share-eaco", options).sharing;
}
std::unique_ptr<Sharing> make_eaco_paper(const PolicyOptions& options) {
  return test_part("share-eaco-paper", options).sharing;
}

PolicyOptions options() {
  PolicyOptions o;
  o.limits.max_slowdown = 2;
  return o;
}

TEST(Eaco, SharesOnlyIfItSaves) {
  TestSharing view(kSite);
  const auto sharing = make_eaco(options());
  EXPECT_EQ(sharing->when(), ShareWhen::BeforeFree);
  EXPECT_TRUE(sharing->observes());
  EXPECT_TRUE(sharing->caps_power());
  view.run({.app = 2, .util_pct = 70}, {0});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), -1);  // saves 1 %
  view.run({.app = 1, .util_pct = 30}, {1});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), 1);
  PolicyOptions easy = options();
  easy.prices.min_saving = 0;
  EXPECT_EQ(view.chosen_gpu(*make_eaco(easy), view.submit({})), 0);
}

TEST(Eaco, DeadlinesStandTheUpperQuantileAndAnUndo) {
  TestSharing view(kSite);
  const auto sharing = make_eaco(options());
  view.run({.app = 1, .util_pct = 70, .work_s = 1000, .deadline_s = 1200 * kUpper - 1}, {0});
  view.run({.app = 1, .util_pct = 30, .work_s = 1000, .deadline_s = 1200 * kUpper + 1}, {1});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), 1);
  const double with_undo_s = 1100 * kUpper + 60;
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.deadline_s = with_undo_s + 1})), 1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.deadline_s = with_undo_s - 1})), -1);
}

TEST(Eaco, WithoutAPromiseUpToTheGreatestSlowdown) {
  TestSharing view(kSite);
  PolicyOptions strict;
  strict.limits.max_slowdown = 1.15;
  view.run({.app = 1}, {0});
  EXPECT_EQ(view.chosen_gpu(*make_eaco(strict), view.submit({})), -1);  // the resident: 1.2
  strict.limits.max_slowdown = 1.2;
  EXPECT_EQ(view.chosen_gpu(*make_eaco(strict), view.submit({})), 0);
  EXPECT_EQ(view.chosen_gpu(*make_eaco(strict), view.submit({.work_s = -1})), 0);
  EXPECT_EQ(view.chosen_gpu(*make_eaco(strict), view.submit({.max_slowdown = 1.25F})), 0);
  EXPECT_EQ(view.chosen_gpu(*make_eaco(strict), view.submit({.max_slowdown = 1.2F})), -1);  // undo
}

TEST(Eaco, AloneIfPriorityMemoryUnknownOrCoolingDown) {
  TestSharing view(kSite);
  const auto sharing = make_eaco(options());
  const JobId resident = view.run({.app = 1}, {0});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.priority = 1})), -1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.mem_bytes = 0})), -1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.util_pct = -1})), -1);
  const JobId job = view.submit({});
  view.learn().undone(job, std::vector{JobId(99U)}, view.now());
  view.pass(3599);
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  view.pass(1);
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 0);
  view.learn().undone(job, std::vector{resident}, view.now());
  view.pass(3600);
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);  // rejected
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), 0);
}

TEST(Eaco, WhatBrokeTogetherIsKeptApart) {
  TestSharing view(kSite);
  const auto sharing = make_eaco(options());
  view.run({.app = 1}, {0});
  view.learn().broke(AppId(1U), std::vector{AppId(0U)});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), 0);  // one failure is not enough
  view.learn().broke(AppId(0U), std::vector{AppId(1U)});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), -1);
}

TEST(Eaco, WhoFoundNoMemoryIsAloneAndItsPairIsKeptApartAtOnce) {
  TestSharing view(kSite);
  const auto sharing = make_eaco(options());
  const JobId resident = view.run({.app = 1}, {0});
  view.learn().keep_alone(resident);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), -1);
  view.run({.app = 1}, {1});
  const JobId job = view.submit({});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 1);
  view.learn().keep_alone(job);
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  view.learn().broke(AppId(1U), std::vector{AppId(0U)}, true);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), -1);
}

TEST(Eaco, PromisesStandWhateverTheSetShrinksTo) {
  // All three together are faster than two of them, by measurement.
  const TestSite site{.measured = {{.apps = {0, 1}, .slowdown = {1.1, 1.1}},
                                   {.apps = {0, 2}, .slowdown = {1.1, 1.1}},
                                   {.apps = {1, 2}, .slowdown = {1.8, 1.1}},
                                   {.apps = {0, 1, 2}, .slowdown = {1.1, 1.1, 1.1}}}};
  for (const bool tight : {false, true}) {
    TestSharing view(site);
    view.run({.app = 1, .work_s = 1000, .deadline_s = tight ? 2000.0 : 2600.0}, {0});
    view.run({.app = 0}, {0});
    view.pass(600);
    EXPECT_EQ(view.chosen_gpu(*make_eaco(options()), view.submit({.app = 2})), tight ? -1 : 0);
    EXPECT_EQ(view.chosen_gpu(*make_eaco_paper(options()), view.submit({.app = 2})), 0);
  }
}

TEST(Eaco, GroupsSettle) {
  TestSharing view(kSite);
  PolicyOptions loose = options();
  loose.limits.max_slowdown = 100;
  loose.prices.min_saving = -10;
  const auto sharing = make_eaco(loose);
  view.run({.app = 1, .util_pct = 10}, {0});
  view.pass(1);
  view.run({.app = 0, .util_pct = 10}, {0});
  view.pass(599);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 3})), -1);
  view.pass(1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 3})), 0);
}

class EacoReview : public testing::Test {
 public:
  std::optional<JobId> review(bool observed = true, PolicyOptions o = options()) {
    return make_eaco(o)->review(view, view.group_of(0), observed);
  }
  void learn(std::vector<AppId> apps, std::vector<double> slowdown) {
    view.learn().observed(view.knowledge().gpu_types[0], apps, slowdown);
  }
  TestSharing view{{.measured = {}}};
  static AppId app(uint32_t number) { return AppId(number); }
};

TEST_F(EacoReview, AMeasuredSetIsJudgedByItsMean) {
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1210}, {0});
  const JobId last = view.run({.app = 0, .work_s = 1000, .deadline_s = 1600}, {0});
  EXPECT_EQ(review(), last);  // not measured: twice as slow, or worse
  learn({app(0), app(1)}, {1.2, 1.2});
  EXPECT_EQ(review(), std::nullopt);
  EXPECT_EQ(review(false), std::nullopt);
  view.pass(20);
  EXPECT_EQ(review(false), last);  // reviewed after every change
  view.books().set_locked(view.group_of(0), true);
  EXPECT_EQ(review(false), std::nullopt);  // wait for the measurement
}

TEST_F(EacoReview, TheOneLeavesWhoCanAffordIt) {
  const JobId first = view.run({.app = 1, .work_s = 1000, .deadline_s = 1500}, {0});
  view.run({.app = 0, .work_s = 1000, .deadline_s = 1050}, {0});
  learn({app(0), app(1)}, {1.2, 1.2});
  // The last job would miss its target even after an undo; the first one leaves instead.
  EXPECT_EQ(review(), first);
}

TEST_F(EacoReview, NobodyLeavesInVain) {
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1030}, {0});
  learn({app(0), app(1)}, {1.05, 1.02});
  const JobId last = view.run({.app = 0, .work_s = 1000, .deadline_s = 1040}, {0});
  // Only the last job misses its target, and leaving does not change that: 1000 + 60 s.
  EXPECT_EQ(review(), std::nullopt);
  view.set_work_left(last, 990);  // now it meets its target
  EXPECT_EQ(review(), std::nullopt);
}

TEST_F(EacoReview, LostPromisesAreNoReason) {
  view.run({.app = 1, .work_s = 1000, .deadline_s = 900}, {0});
  view.run({.app = 0}, {0});
  learn({app(0), app(1)}, {1.2, 1.2});
  EXPECT_EQ(review(), std::nullopt);
}

TEST_F(EacoReview, WasteEndsIfTheUndoCostsLess) {
  PolicyOptions o = options();
  o.limits.max_slowdown = 10;
  view.run({.app = 1}, {0});
  const JobId last = view.run({.app = 0, .work_s = 1000}, {0});
  learn({app(0), app(1)}, {2.5, 2.5});
  EXPECT_EQ(review(true, o), std::nullopt);  // it would have to wait
  view.set_free_gpus(1);
  EXPECT_EQ(review(true, o), last);
  view.set_someone_waits(true);
  EXPECT_EQ(review(true, o), std::nullopt);
  view.set_someone_waits(false);
  view.set_work_left(last, 50);  // 125 s at 25 % more energy
  EXPECT_EQ(review(true, o), std::nullopt);
}

TEST_F(EacoReview, AfterALeaveTheRestIsLookedAt) {
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1900}, {0});
  const JobId second = view.run({.app = 0, .work_s = 1000}, {0});
  const JobId third = view.run({.app = 2, .work_s = 1000}, {0});
  learn({app(0), app(1), app(2)}, {1.1, 1.1, 1.1});
  learn({app(0), app(1)}, {1.1, 1.1});
  EXPECT_EQ(review(), std::nullopt);
  view.stop(third);
  EXPECT_EQ(review(false), std::nullopt);
  view.stop(second);
  EXPECT_EQ(review(false), std::nullopt);
}

}  // namespace
}  // namespace goban::core::policy
