#include "core/policy/sharing/benefit.hpp"

#include <gtest/gtest.h>

#include "core/policy/sharing/power_caps.hpp"
#include "core/policy/sharing/ranking.hpp"
#include "core/policy/sharing/test_sharing.hpp"

namespace goban::core::policy {
namespace {

/// Host 80 W per node of 4 GPUs; GPUs draw 30 W, and up to 200 W more, linear in utilisation.
knowledge::PowerModel power() {
  knowledge::PowerModel model;
  model.name = "test";
  model.num_gpus = 4;
  model.host_idle_w = 80;
  model.gpu_idle_w = 30;
  model.gpu_context_w = 30;
  model.gpu_max_w = 300;
  model.gpu_dynamic_w = 200;
  model.gpu_share_base_w = 30;
  model.caps = {{.cap_w = 150, .energy_factor = 0.8, .time_factor = 1.1},
                {.cap_w = 50, .energy_factor = 0.7, .time_factor = 1.4}};
  return model;
}

double saving(const TestSite& site, uint32_t group_gpus = 1) {
  const TestSharing view(site);
  TenantSet before(view, 0);
  before.add({.app = AppId(0U), .util_pct = 40});
  TenantSet with = before;
  with.add({.app = AppId(1U), .util_pct = 40});
  const SetPrediction alone = before.predict(view);
  const SetPrediction pair = with.predict(view);
  return predicted_benefit(view, {.before = &before,
                                  .before_prediction = &alone,
                                  .with = &with,
                                  .with_prediction = &pair,
                                  .group_gpus = group_gpus,
                                  .shared_gpus = 1})
      .saved_part;
}

TEST(Benefit, JoulesForTheSameWork) {
  const TestSite site{.measured = {{.apps = {0, 1}, .slowdown = {1.25, 2}}}, .power = {power()}};
  // Alone 30 + 80 + 20 W of the host; together 30 + 160 + 20 W, with 0.8 and 0.5 of the work.
  EXPECT_NEAR(saving(site), 1 - 210 / (0.8 * 130 + 0.5 * 130), 1e-6);
  // Four GPUs of the resident wait for the shared one.
  EXPECT_NEAR(saving(site, 4), 1 - (210 + 3 * 130) / (0.8 * 4 * 130 + 0.5 * 130), 1e-6);
}

TEST(Benefit, MeasuredWattsGoFirst) {
  EXPECT_NEAR(saving({.measured = {{.apps = {0, 1}, .slowdown = {1, 1}, .power_w = 200},
                                   {.apps = {0}, .slowdown = {1}, .power_w = 120},
                                   {.apps = {1}, .slowdown = {1}, .power_w = 130}},
                      .power = {power()}}),
              1 - 200 / 250.0, 1e-6);
}

TEST(Benefit, WithoutWattsItIsTheGainInWork) {
  EXPECT_NEAR(saving({.measured = {{.apps = {0, 1}, .slowdown = {1.25, 2}}}}), 1 - 1 / 1.3, 1e-9);
  EXPECT_LE(saving({.measured = {{.apps = {0, 1}, .slowdown = {2.5, 2.5}}}}), 0);
}

class Caps : public testing::Test {
 public:
  TestSharing view{{.measured = {{.apps = {0}, .slowdown = {1}, .power_w = 220},
                                 {.apps = {0, 1}, .slowdown = {1.2, 1.2}, .power_w = 240}},
                    .power = {power()}}};
};

TEST_F(Caps, IntoSlackOnly) {
  // 200 W: at 150 W 160 W of GPU energy; at 50 W 140 W, but the host share of 20 W lasts longer.
  view.run({.work_s = 1000, .deadline_s = 1399}, {0});
  view.run({.work_s = 1000, .deadline_s = 1401}, {1});
  view.run({.work_s = 1000, .deadline_s = 1099}, {2});
  view.run({.work_s = 1000}, {3});
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), 0);
  EXPECT_EQ(cap_into_slack(view, view.group_of(1)), 1);
  EXPECT_EQ(cap_into_slack(view, view.group_of(2)), -1);
  EXPECT_EQ(cap_into_slack(view, view.group_of(3)), -1);  // no service target, so no slack
  view.set_someone_waits(true);
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), -1);
}

TEST_F(Caps, TheHostAndIdleGpusOfTheNodeCount) {
  // Alone on its node: host 80 W and 3 x 30 W for the whole of a longer time.
  view.run({.work_s = 1000, .deadline_s = 9000}, {0});
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), 0);  // 160 + 187 < 370; 140 + 238 > 347
}

TEST_F(Caps, OnTheUpperQuantileOfASharedGroup) {
  // 1.2 x (1 + 1.645 x 3 %) x 1.1 = 1.385
  view.run({.app = 0, .work_s = 1000, .deadline_s = 1390}, {0});
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1390}, {0});
  view.run({.app = 0, .work_s = 1000, .deadline_s = 1380}, {1});
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1390}, {1});
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), 0);
  EXPECT_EQ(cap_into_slack(view, view.group_of(1)), -1);
  view.books().set_locked(view.group_of(0), true);
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), -1);
}

TEST_F(Caps, AJobInTwoGroupsIsLeftAlone) {
  view.run({.gpus = 2, .work_s = 1000, .deadline_s = 9000}, {0, 1});
  EXPECT_GE(cap_into_slack(view, view.group_of(0)), 0);
  view.run({.app = 1, .work_s = 1000, .deadline_s = 9000}, {1});
  EXPECT_EQ(cap_into_slack(view, view.group_of(0)), -1);
  EXPECT_EQ(cap_into_slack(view, view.group_of(1)), -1);
}

class Ranking : public testing::Test {
 public:
  std::vector<uint32_t> order(ShareRanking ranking, float util_pct, uint32_t gpus = 1) {
    std::vector<RankedKind> buffer;
    const RankRules rules{.ranking = ranking, .jobs_per_gpu_max = 2, .util_max_pct = 100};
    RankedKinds kinds(view, rules, {.app = {}, .util_pct = util_pct}, gpus, buffer);
    std::vector<uint32_t> first_gpus;
    while (const auto kind = kinds.next()) {
      first_gpus.push_back(
          view.tenants().group(view.tenants().kind(*kind).groups[0]).gpus[0].value);
    }
    return first_gpus;
  }
  TestSharing view{{}};
};

TEST_F(Ranking, HighestSimilarComplementary) {
  view.run({.util_pct = 20}, {0});
  view.run({.util_pct = 70}, {1});
  view.run({.util_pct = 50}, {2});
  view.run({.util_pct = 90}, {3});
  using Gpus = std::vector<uint32_t>;
  EXPECT_EQ(order(ShareRanking::Highest, 10), (Gpus{3, 1, 2, 0}));
  EXPECT_EQ(order(ShareRanking::Highest, 40), (Gpus{2, 0}));
  EXPECT_EQ(order(ShareRanking::Similar, 29), (Gpus{0, 2, 1}));
  EXPECT_EQ(order(ShareRanking::Complementary, 30), (Gpus{1, 2, 0}));
}

TEST_F(Ranking, ExactSizesFirstThenLargerOnesOnOneNode) {
  view.run({.util_pct = 10}, {0});
  view.run({.gpus = 2, .util_pct = 60}, {1, 2});
  view.run({.gpus = 3, .util_pct = 70}, {5, 6, 7});
  view.run({.gpus = 2, .util_pct = 80}, {3, 4});  // across nodes
  using Gpus = std::vector<uint32_t>;
  EXPECT_EQ(order(ShareRanking::Highest, 10, 1), (Gpus{0, 5, 1}));
  EXPECT_EQ(order(ShareRanking::Highest, 10, 2), (Gpus{3, 1, 5}));
  EXPECT_TRUE(order(ShareRanking::Highest, 10, 4).empty());
}

TEST_F(Ranking, FullGroupsAndEmptyKindsAreNoCandidates) {
  view.run({.util_pct = 10}, {0});
  view.run({.util_pct = 10}, {0});
  const JobId gone = view.run({.util_pct = 30}, {1});
  view.stop(gone);
  EXPECT_TRUE(order(ShareRanking::Highest, 10).empty());
}

}  // namespace
}  // namespace goban::core::policy
