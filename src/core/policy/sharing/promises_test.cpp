#include "core/policy/sharing/promises.hpp"

#include <gtest/gtest.h>

#include "core/policy/sharing/test_sharing.hpp"

namespace goban::core::policy {
namespace {

const TestSite kSite{.measured = {{.apps = {0, 1}, .slowdown = {1.2, 1.5}},
                                  {.apps = {0, 2}, .slowdown = {1.4, 1.1}}}};

TEST(Promises, DeadlineByMeanOrUpperQuantile) {
  TestSharing view(kSite);
  const JobId id = view.submit({.work_s = 1000, .deadline_s = 1500});
  const auto keeps = [&](const PromiseRules& rules, double alone, Slowdown beside,
                         double extra_s = 0) {
    return keeps_promise(
        view, rules,
        {.job = &view.job(id), .alone_slowdown = alone, .beside = beside, .extra_s = extra_s});
  };
  EXPECT_TRUE(keeps({}, 1, {1.5, 9}));
  EXPECT_FALSE(keeps({}, 1, {1.51, 9}));
  EXPECT_FALSE(keeps({}, 1.1, {1.5, 9}));
  EXPECT_TRUE(keeps({}, 1, {1.4, 9}, 100));
  EXPECT_FALSE(keeps({}, 1, {1.4, 9}, 101));
  EXPECT_FALSE(keeps({.upper = true}, 1, {1.4, 1.51}));
  EXPECT_TRUE(keeps({.upper = true, .max_slowdown = 1.1}, 1, {1.4, 1.5}));
  view.pass(400);
  EXPECT_FALSE(keeps({}, 1, {1.2, 1.2}));
  EXPECT_TRUE(keeps({}, 1, {1.1, 1.1}));
}

TEST(Promises, LostAndUnknown) {
  TestSharing view(kSite);
  const JobId lost = view.submit({.work_s = 1000, .deadline_s = 900});
  const JobId unknown = view.submit({.work_s = -1, .deadline_s = 900});
  const JobId free = view.submit({});
  const auto keeps = [&](JobId id, const PromiseRules& rules, double slowdown) {
    return keeps_promise(view, rules, {.job = &view.job(id), .beside = {slowdown, 2 * slowdown}});
  };
  EXPECT_TRUE(keeps(lost, {}, 100));
  EXPECT_FALSE(keeps(lost, {.lost_bind = true}, 1));
  EXPECT_TRUE(keeps(lost, {.max_slowdown = 1.3}, 1.3));
  EXPECT_FALSE(keeps(lost, {.max_slowdown = 1.3}, 1.31));
  EXPECT_FALSE(keeps(unknown, {}, 1));
  EXPECT_TRUE(keeps(unknown, {.unknown_bind = false, .max_slowdown = 1.3}, 1.3));
  EXPECT_FALSE(keeps(unknown, {.unknown_bind = false, .max_slowdown = 1.3}, 1.4));
  EXPECT_TRUE(keeps(free, {.upper = true, .max_slowdown = 1.3}, 1.3));
  EXPECT_FALSE(keeps(free, {.upper = true, .max_slowdown = 1.3}, 1.31));
}

TEST(Promises, GreatestSlowdownCountsFromTheSubmission) {
  TestSharing view(kSite);
  const JobId id = view.submit({.app = 0, .work_s = 1000, .max_slowdown = 1.5F});
  const auto end_s = [&](double left_s) {
    return base::to_seconds(promised_end_ns(view, view.job(id), left_s));
  };
  EXPECT_DOUBLE_EQ(end_s(1000), 1500);
  view.pass(100);  // waited
  EXPECT_DOUBLE_EQ(end_s(1000), 1500);
  view.start(id, {0});
  view.pass(300);
  EXPECT_DOUBLE_EQ(end_s(700), 1500);
  EXPECT_NEAR(*slack_s(view, {.job = &view.job(id)}), 1.5 * 1300 - 400 - 1000, 1e-9);
  // With a neighbour the 300 s count as less work: 1.2 x (1 + 1.645 x 3 %) slower.
  view.run({.app = 1}, {0});
  EXPECT_NEAR(end_s(700), 1.5 * (700 + 300 / (1.2 * (1 + 1.645 * 0.03))), 1e-6);
}

TEST(Promises, AsSlowAsInTheSlowestGroup) {
  TestSharing view(kSite);
  const JobId wide = view.run({.gpus = 2, .app = 0}, {0, 1});
  EXPECT_DOUBLE_EQ(slowdown_elsewhere(view, wide).mean, 1);
  view.run({.app = 1}, {0});
  view.run({.app = 2}, {1});
  EXPECT_DOUBLE_EQ(slowdown_elsewhere(view, wide).mean, 1.4);
  EXPECT_DOUBLE_EQ(slowdown_elsewhere(view, wide, view.group_of(1)).mean, 1.2);
  EXPECT_DOUBLE_EQ(slowdown_elsewhere(view, wide, view.group_of(0)).mean, 1.4);
}

TEST(Promises, ResidentsAreAskedInAllTheirGroups) {
  TestSharing view(kSite);
  const JobId wide = view.run({.gpus = 2, .app = 0, .work_s = 1000, .deadline_s = 1300}, {0, 1});
  const TenantTraits joiner = view.traits(view.job(view.submit({.app = 1})));
  const auto keeps = [&](JobId leaving = {}) {
    TenantSet set(view, 0, view.tenants().group(view.group_of(0)).traits);
    set.add(joiner);
    const SetPrediction prediction = set.predict(view);
    return residents_keep_promises(view, {}, view.group_of(0),
                                   {.set = &set, .prediction = &prediction, .leaving = leaving});
  };
  EXPECT_TRUE(keeps());  // 1.2 x 1000 s
  view.run({.app = 2, .work_s = 10}, {1});
  EXPECT_FALSE(keeps());  // 1.4 with the other one
  EXPECT_TRUE(keeps(wide));
}

TEST(Promises, OfEqualApplicationsTheSlowerOneCounts) {
  TestSharing view({.measured = {{.apps = {0, 0}, .slowdown = {1.1, 1.6}}}});
  TenantSet set(view, 0);
  set.add({.app = AppId(0U)});
  set.add({.app = AppId(0U)});
  EXPECT_DOUBLE_EQ(set.slowdown(set.predict(view), AppId(0U)).mean, 1.6);
}

}  // namespace
}  // namespace goban::core::policy
