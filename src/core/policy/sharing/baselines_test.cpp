// The pairing policies.
#include <gtest/gtest.h>
#include <set>

#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

/// Sum of rates with application 0: 1.8 with 1, 1.2 with 2, 0.77 with itself, never with 3.
const TestSite kSite{.measured = {{.apps = {0, 1}, .slowdown = {1 / 0.9, 1 / 0.9}},
                                  {.apps = {0, 2}, .slowdown = {1 / 0.6, 1 / 0.6}},
                                  {.apps = {0, 0}, .slowdown = {1 / 0.385, 1 / 0.385}},
                                  {.apps = {0, 3}, .slowdown = {}, .never = true}}};

std::unique_ptr<Sharing> make_best_pair(SharingRules rules) {
  return test_part("share-best-pair", {.rules = rules}).sharing;
}
std::unique_ptr<Sharing> make_random_pair(SharingRules rules) {
  return test_part("share-random-pair", {.rules = rules}).sharing;
}

TEST(BestPair, TakesTheHighestSumOfRatesAbove1_5) {
  TestSharing view(kSite);
  const auto sharing = make_best_pair({});
  EXPECT_EQ(sharing->when(), ShareWhen::IfBlocked);
  EXPECT_EQ(sharing->jobs_per_gpu_max(), 2);
  EXPECT_FALSE(sharing->observes());
  view.run({.app = 0}, {0});
  view.run({.app = 2}, {1});
  view.run({.app = 3}, {2});
  const JobId job = view.submit({.app = 0});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  view.run({.app = 1}, {3});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 3);
  EXPECT_EQ(sharing->choose(view, view.job(job))->level, knowledge::PredictionLevel::Measured);
}

TEST(BestPair, OneNeighbourOfEqualSizeWithinMemory) {
  TestSharing view(kSite);
  const auto sharing = make_best_pair({});
  view.run({.gpus = 2, .app = 1}, {0, 1});
  const JobId job = view.submit({.app = 0});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.gpus = 2, .app = 0})), 0);
  view.run({.app = 1, .mem_bytes = 14 * kTestGib}, {2});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  view.run({.app = 1}, {3});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 3);
  view.start(job, {3});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 0})), -1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.gpus = 0, .app = 0})), -1);
}

TEST(BestPair, SiteRulesOfSharing) {
  TestSharing view(kSite);
  using model::SharingRequest;
  view.run({.app = 1, .account = 1}, {0});
  view.run({.app = 1, .account = 2, .sharing = SharingRequest::Yes}, {1});
  const JobId job = view.submit({.app = 0, .account = 1, .sharing = SharingRequest::Yes});
  EXPECT_EQ(view.chosen_gpu(*make_best_pair({.everyone = false}), job), 1);
  EXPECT_EQ(view.chosen_gpu(*make_best_pair({.within_account = true}), job), 0);
  EXPECT_EQ(view.chosen_gpu(*make_best_pair({.everyone = false, .within_account = true}), job), -1);
}

TEST(RandomPair, PairsAtRandomWhileDemandExceedsTheCluster) {
  TestSharing view(kSite);
  const auto sharing = make_random_pair({});
  EXPECT_TRUE(sharing->observes());
  for (uint32_t gpu = 0; gpu < 4; ++gpu) view.run({.app = static_cast<int32_t>(gpu)}, {gpu});
  const JobId job = view.submit({.app = 0});
  view.set_demand(8);
  EXPECT_EQ(view.chosen_gpu(*sharing, job), -1);
  view.set_demand(9);
  std::set<int64_t> chosen;
  for (int i = 0; i < 100; ++i) {
    view.pass(1);  // another seed
    chosen.insert(view.chosen_gpu(*sharing, job));
  }
  EXPECT_EQ(chosen, (std::set<int64_t>{0, 1, 2}));  // never the set of level Never
  EXPECT_EQ(view.chosen_gpu(*sharing, job), view.chosen_gpu(*sharing, job));
}

TEST(RandomPair, FindsTheOnlyOneFromAnyBeginning) {
  TestSharing view({.nodes = 4, .measured = kSite.measured});
  const auto sharing = make_random_pair({});
  for (uint32_t gpu = 0; gpu < 16; ++gpu) {
    view.run({.app = static_cast<int32_t>(gpu % 3), .mem_bytes = (gpu == 9 ? 2 : 15) * kTestGib},
             {gpu});
  }
  const JobId job = view.submit({.app = 0});
  for (int i = 0; i < 50; ++i) {
    view.pass(1);
    EXPECT_EQ(view.chosen_gpu(*sharing, job), 9);
  }
}

TEST(RandomPair, PartsAPairMeasuredBelowOne) {
  TestSharing view(kSite);
  const auto sharing = make_random_pair({});
  view.run({.app = 0}, {0});
  const JobId good = view.run({.app = 1}, {0});
  view.run({.app = 0}, {1});
  const JobId bad = view.run({.app = 0}, {1});
  EXPECT_NE(good, bad);
  EXPECT_EQ(sharing->review(view, view.group_of(0), true), std::nullopt);
  EXPECT_EQ(sharing->review(view, view.group_of(1), true), bad);
  EXPECT_EQ(sharing->review(view, view.group_of(1), false), std::nullopt);
}

}  // namespace
}  // namespace goban::core::policy
