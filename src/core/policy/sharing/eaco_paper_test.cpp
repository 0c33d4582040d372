#include <gtest/gtest.h>

#include "core/policy/sharing/test_sharing.hpp"
#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

const TestSite kSite{.measured = {{.apps = {0, 1}, .slowdown = {1.2, 1.5}},
                                  {.apps = {0, 2}, .slowdown = {2.5, 2.5}},
                                  {.apps = {0, 3}, .slowdown = {}, .never = true}}};

std::unique_ptr<Sharing> make_eaco_paper(const PolicyOptions& options) {
  return test_part("share-eaco-paper", options).sharing;
}

TEST(EacoPaper, HighestUtilisationFirstBelowTheThreshold) {
  TestSharing view(kSite);
  const auto sharing = make_eaco_paper({.limits = {.util_max_pct = 90}});
  EXPECT_EQ(sharing->when(), ShareWhen::BeforeFree);
  EXPECT_TRUE(sharing->observes());
  EXPECT_FALSE(sharing->caps_power());
  view.run({.app = 1, .util_pct = 30}, {0});
  view.run({.app = 1, .util_pct = 60}, {1});
  view.run({.app = 1, .util_pct = 75}, {2});
  view.run({.app = 3, .util_pct = 65}, {3});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 0, .util_pct = 20})), 1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 0, .util_pct = 50})), 0);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.app = 0, .util_pct = 70})), -1);
}

TEST(EacoPaper, EverybodyKeepsHisDeadline) {
  TestSharing view(kSite);
  const auto sharing = make_eaco_paper({});
  view.run({.app = 1, .util_pct = 40, .work_s = 1000, .deadline_s = 1499}, {0});
  view.run({.app = 1, .util_pct = 30, .work_s = 1000, .deadline_s = 1500}, {1});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.work_s = 1000})), 1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.work_s = 1000, .deadline_s = 1200})), 1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.work_s = 1000, .deadline_s = 1199})), -1);
  const JobId slow = view.submit({.work_s = 1000, .deadline_s = 1200});
  view.set_alone_slowdown(slow, 1.01);
  EXPECT_EQ(view.chosen_gpu(*sharing, slow), -1);
}

TEST(EacoPaper, NoBenefitTestAndWhoeverHasNoDeadlineIsFair) {
  TestSharing view(kSite);
  view.run({.app = 2}, {0});
  EXPECT_EQ(view.chosen_gpu(*make_eaco_paper({}), view.submit({.app = 0})), 0);  // 0.8 of the work
}

TEST(EacoPaper, LostDeadlinesBindNobodyUnlessAskedTo) {
  TestSharing view(kSite);
  view.run({.app = 1, .work_s = 1000, .deadline_s = 900}, {0});
  const JobId job = view.submit({});
  EXPECT_EQ(view.chosen_gpu(*make_eaco_paper({}), job), 0);
  EXPECT_EQ(view.chosen_gpu(*make_eaco_paper({.limits = {.lost_deadlines_bind = true}}), job), -1);
}

TEST(EacoPaper, PriorityJobsAreAlone) {
  TestSharing view(kSite);
  const auto sharing = make_eaco_paper({});
  view.run({.app = 1, .priority = 1}, {0});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), -1);
  view.run({.app = 1}, {1});
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({.priority = 1})), -1);
  EXPECT_EQ(view.chosen_gpu(*sharing, view.submit({})), 1);
}

TEST(EacoPaper, ReviewsOnceAndTheLastOneLeaves) {
  TestSharing view(kSite);
  const auto sharing = make_eaco_paper({});
  view.run({.app = 1, .work_s = 1000, .deadline_s = 1600}, {0});
  const JobId joiner = view.run({.app = 0}, {0});
  EXPECT_EQ(sharing->review(view, view.group_of(0), true), std::nullopt);
  // The measurement is worse: mean 1.75.
  const auto type = view.knowledge().gpu_types[0];
  view.learn().observed(type, std::vector{AppId(0U), AppId(1U)}, std::vector{1.2, 2.0});
  EXPECT_EQ(sharing->review(view, view.group_of(0), false), std::nullopt);
  EXPECT_EQ(sharing->review(view, view.group_of(0), true), joiner);
  view.stop(joiner);
  EXPECT_EQ(sharing->review(view, view.group_of(0), true), std::nullopt);
}

TEST(EacoPaper, RankingIsAParameter) {
  TestSharing view(kSite);
  view.run({.app = 1, .util_pct = 20}, {0});
  view.run({.app = 1, .util_pct = 60}, {1});
  const JobId job = view.submit({.app = 0, .util_pct = 25});
  EXPECT_EQ(view.chosen_gpu(*test_part("share-eaco-paper").sharing, job), 1);
  EXPECT_EQ(view.chosen_gpu(*test_part("share-eaco-paper-similar").sharing, job), 0);
  EXPECT_EQ(view.chosen_gpu(*test_part("share-eaco-paper-complementary").sharing, job), 1);
}

TEST(EacoPaper, TakesPartOfALargerGroupIfNoneIsOfItsSize) {
  TestSharing view(kSite);
  const auto sharing = make_eaco_paper({});
  view.run({.gpus = 3, .app = 1}, {1, 2, 3});
  const JobId job = view.submit({.gpus = 2, .app = 0});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 1);
  view.run({.gpus = 2, .app = 1, .util_pct = 5}, {4, 5});
  EXPECT_EQ(view.chosen_gpu(*sharing, job), 4);
}

}  // namespace
}  // namespace goban::core::policy
