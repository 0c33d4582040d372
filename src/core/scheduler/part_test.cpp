// A part of the cluster with a policy of its own: each decides as if it had its nodes for itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>

#include "core/scheduler/core_image.hpp"
#include "core/scheduler/explain.hpp"
#include "core/scheduler/test_promised_site.hpp"

namespace goban::core::scheduler {
namespace {

using model::ActionKind;
using model::EventKind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr ReservationId kNoPart{};
constexpr ReservationId kPart{7U};

policy::Composition parted(const char* of_all, const char* of_part) {
  policy::Composition made = policy::compose(of_all).value();
  made.of_part = std::make_shared<const policy::Composition>(policy::compose(of_part).value());
  made.part_id = kPart;
  return made;
}

struct PartSite : PromisedSite {
  PartSite(const char* preset, const policy::Composition& composition)
      : PromisedSite(preset, 1.0, composition) {}

  void part(const std::vector<NodeId>& nodes) { promise(kPart, now, base::kNever, nodes); }
  void move(JobId job, ReservationId to) {
    (void)core.apply({.kind = EventKind::JobMoved, .at_ns = now, .job = job, .reservation = to});
  }
};

TEST(Part, ItsJobsRunThereAloneAndOthersElsewhere) {
  PartSite site("2x4", parted("fifo+packed", "fifo+packed"));
  const JobId early = site.submit(4, 0);
  site.decide(0);
  const uint32_t node = *site.nodes_of(early).begin();
  site.part({NodeId(node)});
  const JobId ours = site.submit(2, 0, kPart);
  const JobId other = site.submit(4, 0);
  const JobId waits = site.submit(1, 0);
  EXPECT_THAT(site.decide(1), ElementsAre(other));
  EXPECT_TRUE(site.core.decide(2).actions.empty()) << "who ran there stays";
  EXPECT_EQ(why_waiting(site.core, ours, 2, 1).free_gpus, 0);
  site.end(early);
  EXPECT_THAT(site.decide(3), ElementsAre(ours));
  EXPECT_THAT(site.nodes_of(ours), ElementsAre(node, node));
  const WaitReason why = why_waiting(site.core, waits, 3, 1);
  EXPECT_EQ(why.cause, WaitCause::Promised);
  EXPECT_EQ(why.reservation, kPart);
  EXPECT_EQ(why.free_gpus, 0);
}

TEST(Part, EachQueueHasItsOwnOrder) {
  PartSite site("2x4", parted("fifo+packed", "priority+non-preemptive+packed"));
  site.part({NodeId(1U)});
  const JobId holds = site.submit(4, 0);
  const JobId ours = site.submit(4, 0, kPart);
  site.decide(0);
  const JobId large = site.submit(4, 0);
  site.submit(1, 0, kNoPart, 1);
  const JobId our_large = site.submit(4, 0, kPart);
  const JobId our_small = site.submit(1, 0, kPart, 1);
  site.decide(1);
  site.now = 2;
  site.end(holds);
  site.end(ours);
  EXPECT_THAT(site.decide(2), testing::UnorderedElementsAre(large, our_small));
  size_t count = 0;
  EXPECT_THAT(waiting_before(site.core, our_large, 9, count), IsEmpty()) << "of its own queue";
}

TEST(Part, MovedJobsKeepTheirGpusAndWaitAsBefore) {
  PartSite site("2x4", parted("fifo+packed", "priority+non-preemptive+packed"));
  site.part({NodeId(1U)});
  const JobId runs = site.submit(4, 0, kPart);
  site.submit(4, 0);
  site.decide(0);
  const JobId large = site.submit(3, 0, kPart);
  const JobId small = site.submit(1, 0, kPart, 1);
  site.decide(1);
  for (const JobId job : {runs, large, small}) site.move(job, kNoPart);
  (void)site.core.apply({.kind = EventKind::PromiseOver, .at_ns = 1, .reservation = kPart});
  EXPECT_TRUE(site.core.decide(2).actions.empty());
  size_t count = 0;
  EXPECT_THAT(waiting_before(site.core, small, 9, count), ElementsAre(large)) << "first come";
  site.end(runs);
  EXPECT_THAT(site.decide(3), ElementsAre(large, small));
}

TEST(Part, AnImageIsRestoredAsItWas) {
  const policy::Composition policies = parted("goban", "las+packed");
  PartSite site("2x4", policies);
  site.part({NodeId(1U)});
  for (int i = 0; i < 12; ++i) {
    site.submit(1 + i % 4, (1 + i % 5) * base::kHour, i % 2 == 0 ? kPart : kNoPart);
  }
  site.decide(0);
  const CoreImage image = site.core.image();
  EXPECT_EQ(image.part_policy, "las+packed");
  PartSite again("2x4", policies);
  ASSERT_TRUE(again.core.restore(image));
  for (int hour = 1; hour < 40; ++hour) {
    for (PartSite* each : {&site, &again}) {
      each->now = hour * base::kHour;
      if (each->core.num_running() > 0) {
        const auto running = each->core.state().running();
        JobId first = each->core.state().job(running.front().slot).job;
        for (const auto& one : running) {
          first = std::min(first, each->core.state().job(one.slot).job);
        }
        each->end(first);
      }
    }
    EXPECT_EQ(site.decide(hour * base::kHour), again.decide(hour * base::kHour)) << hour;
  }
  EXPECT_EQ(site.core.num_waiting(), 0U);
}

TEST(Part, WhoWaitsWhenAPolicyWithAStarvationBoundBeginsIsNotForgotten) {
  const auto load = [](PartSite& site, ReservationId whose) {
    site.part({NodeId(1U)});
    site.submit(4, 0, whose);
    site.decide(0);
    site.now = base::kMinute;
    site.submit(4, 0, whose);
    site.decide(base::kMinute);
    return site.core.state().next_starved_ns();
  };
  for (const ReservationId whose : {kNoPart, kPart}) {
    PartSite before("2x4", parted("fifo+packed", "fifo+packed"));
    ASSERT_EQ(load(before, whose), base::kNever) << "fifo has no bound";
    const policy::Composition bounded =
        whose == kPart ? parted("fifo+packed", "las+packed") : parted("las+packed", "fifo+packed");
    PartSite expected("2x4", bounded);
    const TimeNs due_ns = load(expected, whose);
    ASSERT_LT(due_ns, base::kNever);
    PartSite after("2x4", bounded);
    ASSERT_TRUE(after.core.restore(before.core.image()));
    EXPECT_EQ(after.core.state().next_starved_ns(), due_ns);
  }
}

struct PartPolicies {
  const char* of_all;
  const char* of_part;
};
class Parts : public testing::TestWithParam<PartPolicies> {};

/// One core with a part against two cores, each with a cluster of its own.
class Twins {
 public:
  Twins(const PartPolicies& policies, uint32_t seed)
      : draw_(seed),
        whole_("4x4", parted(policies.of_all, policies.of_part)),
        others_("2x4", policy::compose(policies.of_all).value()),
        ours_("2x4", policy::compose(policies.of_part).value()) {
    whole_.part({NodeId(2U), NodeId(3U)});
  }

  void step() {
    now_ += static_cast<TimeNs>(below(1200)) * base::kSecond;
    if (const TimeNs wake = whole_.core.wake_ns(); below(2) == 0 && wake > now_) {
      now_ = std::min(now_ + base::kHour, wake);
    }
    for (int i = 0; i < 2; ++i) {
      if (below(3) > 0) submit();
    }
    while (below(3) > 0 && !running_.empty()) {
      const auto one = std::next(running_.begin(), below(static_cast<int>(running_.size())));
      for (PartSite* site : {&whole_, own_[*one]}) {
        site->now = now_;
        site->end(*one);
      }
      running_.erase(one);
    }
    decide();
  }
  [[nodiscard]] size_t num_preempted() const { return num_preempted_; }
  [[nodiscard]] size_t num_started() const { return num_started_; }

 private:
  int below(int most) { return static_cast<int>(draw_() % static_cast<uint32_t>(most)); }

  void submit() {
    model::JobRequest request;
    request.num_gpus = 1 + below(below(4) == 0 ? 8 : 3);
    request.submit_ns = now_;
    request.user = model::UserId(static_cast<uint32_t>(below(3)));
    if (below(2) == 0) request.walltime_limit_ns = (1 + below(20)) * base::kHour / 4;
    request.priority = below(5) == 0 ? 1 : 0;
    request.stays = below(2) == 0;
    const TimeNs run_ns = (1 + below(50)) * base::kHour / 10;
    const model::RunForecast forecast{.p10_ns = run_ns / 2, .p50_ns = run_ns, .p90_ns = 2 * run_ns};
    const JobId job(whole_.submitted++);
    const bool is_ours = below(2) == 0;
    own_[job] = is_ours ? &ours_ : &others_;
    own_[job]->now = whole_.now = now_;
    own_[job]->submit(job, request, forecast);
    if (is_ours) request.reservation = kPart;
    whole_.submit(job, request, forecast);
  }

  void decide() {
    using Change = std::pair<JobId, ActionKind>;
    const auto changes = [this](PartSite& site) {
      std::multiset<Change> out;
      for (const Action& action : site.core.decide(now_).actions) {
        out.emplace(action.job, action.kind);
      }
      return out;
    };
    std::multiset<Change> apart = changes(others_);
    apart.merge(changes(ours_));
    const std::multiset<Change> together = changes(whole_);
    ASSERT_EQ(together, apart) << "at " << base::to_seconds(now_);
    for (const auto& [job, kind] : together) {
      if (kind == ActionKind::Preempt) running_.erase(job);
      num_preempted_ += kind == ActionKind::Preempt ? 1 : 0;
    }
    for (const auto& [job, kind] : together) {
      if (kind != ActionKind::Start) continue;
      running_.insert(job);
      ++num_started_;
      const bool is_ours = own_[job] == &ours_;
      for (const uint32_t node : whole_.nodes_of(job)) EXPECT_EQ(node >= 2, is_ours);
    }
  }

  std::mt19937 draw_;
  PartSite whole_;
  PartSite others_;
  PartSite ours_;
  std::map<JobId, PartSite*> own_;
  std::set<JobId> running_;
  TimeNs now_ = 0;
  size_t num_preempted_ = 0;
  size_t num_started_ = 0;
};

TEST_P(Parts, EachDecidesAsOnAClusterOfItsOwn) {
  size_t started = 0;
  size_t preempted = 0;
  for (uint32_t seed = 1; seed <= 20 && !HasFatalFailure(); ++seed) {
    Twins twins(GetParam(), seed);
    for (int i = 0; i < 300 && !HasFatalFailure(); ++i) twins.step();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    started += twins.num_started();
    preempted += twins.num_preempted();
  }
  EXPECT_GT(started, 1000U);
  const bool may_preempt = std::string_view(GetParam().of_part).find("easy") == std::string::npos;
  EXPECT_EQ(preempted > 0, may_preempt);
}

INSTANTIATE_TEST_SUITE_P(
    PartPolicies, Parts,
    testing::Values(PartPolicies{"easy-backfill+packed", "fifo+easy-backfill+packed"},
                    PartPolicies{"easy-backfill+packed", "goban"},
                    PartPolicies{"las+packed", "expansion+promise-backfill+packed"},
                    PartPolicies{"expansion+promise-backfill+priced+packed",
                                 "las+skip+non-sticky+packed"},
                    PartPolicies{"fifo+conservative-backfill+packed",
                                 "expansion+promise-backfill+priced+packed"}),
    [](const auto& each) { return fmt::format("{}", each.index); });

}  // namespace
}  // namespace goban::core::scheduler
