#include "core/policy/sharing/admission.hpp"

#include <gtest/gtest.h>

#include "core/policy/sharing/test_sharing.hpp"

namespace goban::core::policy {
namespace {

using model::SharingRequest;

TenantSet set_of(const TestSharing& view, std::initializer_list<TenantTraits> traits) {
  TenantSet set(view, 0);
  for (const TenantTraits& one : traits) set.add(one);
  return set;
}
TenantTraits tenant(float util_pct, double gib, uint32_t app = 0,
                    SharingRequest sharing = SharingRequest::Unsaid) {
  return {.app = AppId(app),
          .util_pct = util_pct,
          .mem_bytes = static_cast<int64_t>(gib * static_cast<double>(kTestGib)),
          .sharing = sharing};
}

TEST(Admission, BySet) {
  const TestSharing view({.measured = {{.apps = {3}, .slowdown = {1}, .util_pct = 70}}});
  const AdmissionRules rules{.jobs_per_gpu_max = 3, .util_max_pct = 90};
  const auto refuse = [&](std::initializer_list<TenantTraits> traits) {
    return refuse_set(view, rules, set_of(view, traits));
  };
  EXPECT_EQ(refuse({tenant(99, 99)}), Refusal::None);  // alone
  EXPECT_EQ(refuse({tenant(45, 7), tenant(45, 7)}), Refusal::None);
  EXPECT_EQ(refuse({tenant(45, 7), tenant(46, 7)}), Refusal::Utilisation);
  EXPECT_EQ(refuse({tenant(45, 7), tenant(-1, 7)}), Refusal::Utilisation);
  EXPECT_EQ(refuse({tenant(20, 7), tenant(-1, 7, 3)}), Refusal::None);  // the history has 70 %
  EXPECT_EQ(refuse({tenant(21, 7), tenant(-1, 7, 3)}), Refusal::Utilisation);  // 91 %
  EXPECT_EQ(refuse({tenant(9, 1), tenant(9, 1), tenant(9, 1), tenant(9, 1)}), Refusal::JobsPerGpu);
  // 16 GiB minus two contexts and the margin of 0.5 GiB each.
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 7.5)}), Refusal::None);
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 7.51)}), Refusal::Memory);
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 0)}), Refusal::None);
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 7, 0, SharingRequest::Yes)}), Refusal::None);
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 7, 0, SharingRequest::No)}), Refusal::OptedOut);
  EXPECT_EQ(refuse({tenant(9, 7, 0, SharingRequest::No)}), Refusal::None) << "alone";
}

TEST(Admission, BySetWithStricterRules) {
  TestSharing view({});
  const AdmissionRules rules{.memory_known = true, .broken_max = 0};
  const auto refuse = [&](std::initializer_list<TenantTraits> traits) {
    return refuse_set(view, rules, set_of(view, traits));
  };
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 7)}), Refusal::None);
  EXPECT_EQ(refuse({tenant(9, 7), tenant(9, 0)}), Refusal::MemoryUnknown);
  EXPECT_EQ(refuse({tenant(-1, 7), tenant(500, 7)}), Refusal::None);  // no threshold
  view.learn().broke(AppId(0U), std::vector{AppId(1U)});
  EXPECT_EQ(refuse({tenant(9, 2, 1), tenant(9, 2, 0)}), Refusal::BrokenPair);
  EXPECT_EQ(refuse({tenant(9, 2, 2), tenant(9, 2, 0)}), Refusal::None);
}

TEST(Admission, LiveRulesAskEverybody) {
  const TestSharing view({});
  const auto refuse = [&](SharingRequest one, SharingRequest other) {
    return refuse_set(view, {.sharing = kLiveSharing},
                      set_of(view, {tenant(9, 7, 0, one), tenant(9, 7, 0, other)}));
  };
  EXPECT_EQ(refuse(SharingRequest::Yes, SharingRequest::Yes), Refusal::None);
  for (const SharingRequest other : {SharingRequest::Unsaid, SharingRequest::No}) {
    EXPECT_EQ(refuse(SharingRequest::Yes, other), Refusal::OptedOut);
    EXPECT_EQ(refuse(other, SharingRequest::Yes), Refusal::OptedOut);
  }
}

TEST(Admission, TooManyForAnyModel) {
  const TestSharing view({});
  TenantSet set(view, 0);
  for (size_t i = 0; i <= kSetMax; ++i) set.add(tenant(0, 0.1));
  EXPECT_EQ(set.size(), kSetMax);
  EXPECT_EQ(refuse_set(view, {.jobs_per_gpu_max = 100}, set), Refusal::JobsPerGpu);
}

class GroupAdmission : public testing::Test {
 public:
  Refusal refuse(const TestJob& job, uint32_t gpu = 0) {
    const JobId id = view.submit(job);
    return refuse_group(view, rules, view.job(id), view.tenants().group(view.group_of(gpu)));
  }
  TestSharing view{{}};
  AdmissionRules rules{.priority_alone = true, .min_residence_ns = 600 * base::kSecond};
};

TEST_F(GroupAdmission, LocksPrioritiesAndAccounts) {
  view.run({.account = 1}, {0});
  view.run({.priority = 1}, {1});
  EXPECT_EQ(refuse({}), Refusal::None);
  EXPECT_EQ(refuse({.priority = 2}), Refusal::Priority);
  EXPECT_EQ(refuse({}, 1), Refusal::Priority);
  rules.sharing.within_account = true;
  EXPECT_EQ(refuse({.account = 2}), Refusal::Account);
  EXPECT_EQ(refuse({.account = 1}), Refusal::None);
  view.books().set_locked(view.group_of(0), true);
  EXPECT_EQ(refuse({.account = 1}), Refusal::Locked);
  rules.priority_alone = false;
  rules.sharing.within_account = false;
  EXPECT_EQ(refuse({.priority = 2}, 1), Refusal::None);
}

TEST_F(GroupAdmission, WithoutAnAccountEachUserIsOnHisOwn) {
  constexpr uint32_t kNone = UINT32_MAX;
  view.run({.account = kNone, .user = 1}, {0});
  EXPECT_EQ(refuse({.account = kNone, .user = 2}), Refusal::None);
  rules.sharing.within_account = true;
  EXPECT_EQ(refuse({.account = kNone, .user = 2}), Refusal::Account);
  EXPECT_EQ(refuse({.account = kNone, .user = 1}), Refusal::None);
}

TEST_F(GroupAdmission, GroupsSettleAfterAChangeButNotAfterTheirBeginning) {
  const JobId first = view.run({}, {0});
  EXPECT_EQ(refuse({}), Refusal::None);
  view.pass(100);
  const JobId second = view.run({}, {0});
  view.pass(599);
  EXPECT_EQ(refuse({}), Refusal::Settling);
  view.pass(1);
  EXPECT_EQ(refuse({}), Refusal::None);
  view.stop(second);
  EXPECT_EQ(refuse({}), Refusal::Settling);  // the first job is alone again, since now
  view.pass(600);
  EXPECT_EQ(refuse({}), Refusal::None);
  view.stop(first);
}

TEST_F(GroupAdmission, ARejectedSetStaysRejected) {
  const JobId resident = view.run({}, {0});
  const JobId job = view.submit({});
  view.learn().undone(job, std::vector{resident}, 0);
  const auto& group = view.tenants().group(view.group_of(0));
  EXPECT_EQ(refuse_group(view, rules, view.job(job), group), Refusal::Rejected);
  EXPECT_EQ(refuse({}), Refusal::None);
}

}  // namespace
}  // namespace goban::core::policy
