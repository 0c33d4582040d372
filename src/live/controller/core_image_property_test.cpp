// A core that is rebuilt from its image at random times is compared with one that is not, under
// random events and every kind of policy: their decisions and states must be identical.
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <set>

#include "core/scheduler/core_image.hpp"
#include "core/scheduler/test_sharing_run.hpp"
#include "live/controller/core_image_json.hpp"

namespace goban::live::controller {
namespace {

using base::TimeNs;
using core::model::Action;
using core::model::ActionKind;
using core::model::Event;
using core::model::EventKind;
using core::model::GpuId;
using core::model::JobId;
using core::model::JobPhase;
using core::scheduler::Core;
using core::scheduler::CoreImage;

const std::vector<std::string>& policies() {
  static const std::vector<std::string> names = {"fifo",
                                                 "las+pal",
                                                 "las+pal+non-sticky",
                                                 "easy-backfill",
                                                 "conservative-backfill+spread",
                                                 "las-levels+skip",
                                                 "multifactor+easy-backfill",
                                                 "fair-share+pal+share-eaco+sleep",
                                                 "eaco",
                                                 "eaco-paper",
                                                 "random-pair",
                                                 "skip+sticky+share-worth",
                                                 "skip+packed+sleep+consolidate",
                                                 "priority+by-priority+share-eaco-paper+spread",
                                                 "goban",
                                                 "goban"};
  return names;
}

/// Declared facts of jobs; some declare none.
class Words final : public core::model::ReportedProgress {
 public:
  explicit Words(const core::model::JobHistory& history) : history_(history) {}
  double reported_left_s(JobId job, TimeNs now) const override {
    const core::model::Job& each = history_.jobs[job.index()];
    if (job.value % 5 == 4) return -1;
    return std::max(1.0, each.work_s - 0.2 * base::to_seconds(now - each.request.submit_ns));
  }
  double reported_total_s(JobId job) const override {
    return job.value % 5 == 4 ? -1 : history_.jobs[job.index()].work_s;
  }

 private:
  const core::model::JobHistory& history_;
};

core::scheduler::SharingRun draw_run(uint64_t seed, base::Random& random) {
  core::scheduler::SharingRun run =
      core::scheduler::draw_sharing_run(seed, {.policies = policies(), .incidents = false});
  for (size_t i = 0; i < run.history.jobs.size(); ++i) {
    core::model::Job job = run.history.jobs[i];
    if (random.below(3) == 0) job.request.array = core::model::ArrayId(random.below(3));
    if (random.below(2) == 0) {
      job.request.walltime_limit_ns =
          base::from_seconds(60 + static_cast<double>(random.below(4000)));
    }
    job.request.account = core::model::AccountId(random.below(2));
    run.history.jobs.put(i, job);
  }
  auto rules = std::make_shared<core::model::SiteRules>();
  rules->half_life_ns = base::from_seconds(500);
  rules->recalculate_ns = base::from_seconds(150);
  rules->accounts.resize(2);
  rules->accounts[1].parent = core::model::AccountId(0U);
  if (random.below(2) == 0) {
    rules->accounts[0].limits.max_gpus = static_cast<int32_t>(run.cluster->num_gpus());
    rules->accounts[1].limits.max_jobs = static_cast<int32_t>(1 + random.below(4));
  }
  run.composition.rules = rules;
  return run;
}

class Twins {
 public:
  explicit Twins(uint64_t seed)
      : random_(seed ^ 0x5eed),
        run_(draw_run(seed, random_)),
        words_(run_.history),
        context_{.progress = &words_, .knowledge = run_.options.knowledge},
        speed_(run_.speed()),
        lives_on_(fresh()),
        made_anew_(fresh()),
        follows_(fresh()) {
    RC_LOG() << run_.composition.name << ", seed " << seed << "\n";
  }

  void live() {
    for (int step = 0; step < 150; ++step) {
      pass_time();
      for (uint64_t events = random_.below(3); events > 0; --events) happen();
      decide();
      if (random_.below(6) == 0) replace();
    }
  }
  int64_t replaced = 0;
  int64_t shared = 0;
  int64_t observed = 0;
  int64_t slept = 0;
  int64_t in_reservations = 0;
  int64_t found = 0;  ///< resources that others held, at the checks

 private:
  std::unique_ptr<Core> fresh() {
    return std::make_unique<Core>(speed_, run_.composition.make(context_), context_, 7);
  }

  void pass_time() {
    if (random_.below(4) == 0) return;
    const TimeNs wake = lives_on_->wake_ns();
    RC_ASSERT(wake == made_anew_->wake_ns());
    now_ += base::from_seconds(static_cast<double>(random_.below(120)));
    if (wake > now_ && wake != base::kNever && random_.below(3) == 0) now_ = wake;
    // No job runs longer than its walltime limit.
    std::vector<JobId> late;
    for (const auto& running : lives_on_->state().running()) {
      const core::model::JobState& job = lives_on_->state().job(running.slot);
      const TimeNs limit = job.request.walltime_limit_ns;
      if (limit > 0 && job.attained_ns(now_) >= limit) late.push_back(job.job);
    }
    for (const JobId job : late) apply({.kind = EventKind::JobKilled, .job = job});
  }

  void happen() {
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return submit();
      case 4:
      case 5:
        return end_or_break();
      case 6:
        if (random_.below(3) == 0) happen_to_node();
        if (random_.below(3) == 0) reserve_or_end();
        if (random_.below(2) == 0) find_or_leave();
        alter();
        return;
      default:
        return answer();
    }
  }

  void submit() {
    if (submitted_ == run_.history.jobs.size()) return;
    core::model::Job job = run_.history.jobs[submitted_];
    core::model::JobRequest& request = job.request;
    request.submit_ns = now_;
    run_.history.jobs.put(submitted_, job);
    const auto promises = lives_on_->state().resources().promised().all();
    if (!promises.empty() && random_.below(2) == 0) {
      request.reservation = promises[random_.below(promises.size())].reservation;
    }
    Event event{.kind = EventKind::JobSubmitted, .job = JobId(submitted_), .request = &request};
    if (request.array.valid()) event.array = {.max_running = array_limits_[request.array.index()]};
    event.training = &run_.history.training[submitted_++];
    apply(event);
  }

  void end_or_break() {
    std::vector<JobId> active;
    for (size_t i = 0; i < submitted_; ++i) {
      if (lives_on_->state().is_active(JobId(i))) active.emplace_back(i);
    }
    if (active.empty()) return;
    const JobId job = active[random_.below(active.size())];
    const auto phase = lives_on_->state().job(lives_on_->state().slot_of(job)).phase;
    const bool runs = phase == JobPhase::Running;
    Event event{.kind = runs ? EventKind::JobFinished : EventKind::JobKilled, .job = job};
    if (runs && random_.below(4) == 0) event.kind = EventKind::JobBroke;
    event.out_of_memory = random_.below(3) == 0;
    if (runs || random_.below(4) == 0) apply(event);
  }

  void alter() {
    const JobId job(random_.below(std::max<size_t>(submitted_, 1)));
    const auto& state = lives_on_->state();
    if (!state.is_active(job)) return;
    core::model::JobRequest request = state.job(state.slot_of(job)).request;
    if (request.array.valid() && random_.below(2) == 0) {
      int32_t& limit = array_limits_[request.array.index()];
      limit = static_cast<int32_t>(random_.below(4));
      return apply({.kind = EventKind::ArrayAltered, .job = job, .array = {.max_running = limit}});
    }
    if (state.job(state.slot_of(job)).phase == JobPhase::Running) return;
    request.priority = static_cast<int32_t>(random_.below(5)) - 2;
    request.walltime_limit_ns += base::kSecond * static_cast<TimeNs>(random_.below(400));
    apply({.kind = EventKind::JobAltered, .job = job, .request = &request});
  }

  void happen_to_node() {
    const core::model::NodeId node(random_.below(run_.cluster->nodes().size()));
    const std::array kinds = {EventKind::NodeLost, EventKind::NodeClosed, EventKind::NodeDrained,
                              EventKind::NodeRestored, EventKind::NodeRestored};
    Event event{.kind = kinds[random_.below(kinds.size())], .node = node};
    event.until_ns = now_ + base::from_seconds(static_cast<double>(random_.below(2000)));
    apply(event);
  }

  void reserve_or_end() {
    const auto& promised = lives_on_->state().resources().promised();
    if (!promised.empty() && random_.below(3) == 0) {
      const auto gone = promised.all()[random_.below(promised.all().size())].reservation;
      return apply({.kind = EventKind::PromiseOver, .reservation = gone});
    }
    const std::vector<core::model::NodeId> nodes = {
        core::model::NodeId(random_.below(run_.cluster->nodes().size()))};
    Event event{.kind = EventKind::NodesPromised,
                .reservation = core::model::ReservationId(reservations_)};
    event.from_ns = now_ + base::from_seconds(static_cast<double>(random_.below(1000)));
    event.until_ns =
        event.from_ns + base::from_seconds(1 + static_cast<double>(random_.below(3000)));
    event.nodes = nodes;
    if (!promised.problem({event.reservation, event.from_ns, event.until_ns, nodes}).empty())
      return;
    ++reservations_;
    apply(event);
  }

  /// Others take GPUs and host resources, or leave them.
  void find_or_leave() {
    constexpr uint32_t kOthers = 5'000;  // job ids that are never submitted
    const bool one_gpu = random_.below(4) == 0;
    Event event{.kind = EventKind::JobFound};
    core::model::FoundAllocation held;
    const auto some_gpu = [&] { return GpuId(random_.below(run_.cluster->num_gpus())); };
    if (one_gpu) {
      event.gpu = some_gpu();
      held.gpus = {event.gpu};
    } else {
      event.job = JobId(kOthers + static_cast<uint32_t>(random_.below(4)));
      std::set<GpuId> gpus;
      for (size_t i = random_.below(4); i > 0; --i) gpus.insert(some_gpu());
      held.gpus.assign(gpus.begin(), gpus.end());
      if (random_.below(2) == 0) {
        const core::model::NodeId node(random_.below(run_.cluster->nodes().size()));
        held.hosts.push_back(
            {.node = node, .host = {.cores = 1 + static_cast<int32_t>(random_.below(40))}});
      }
      if (random_.below(2) == 0) {
        held.until_ns = now_ + base::from_seconds(static_cast<double>(random_.below(2000)));
      }
    }
    event.found = &held;
    if (random_.below(2) == 0) event.kind = EventKind::FoundOver;
    apply(event);
    for (const auto& [holder, theirs] : lives_on_->state().found()) {
      ++found;
      if (!holder.first.valid()) continue;
      for (const auto& running : lives_on_->state().running()) {
        for (const GpuId gpu : running.allocation.gpus) {
          RC_ASSERT(std::ranges::find(theirs.gpus, gpu) == theirs.gpus.end());
        }
      }
    }
  }

  void check_promises() {
    const auto& state = lives_on_->state();
    RC_ASSERT(state.strangers(now_).empty());
    for (const auto& running : state.running()) {
      const core::model::ReservationId own = state.job(running.slot).request.reservation;
      const auto* promise = state.resources().promised().find(own);
      if (promise == nullptr || now_ >= promise->end_ns) continue;  // it must be stopped
      ++in_reservations;
      for (const auto gpu : running.allocation.gpus) {
        RC_ASSERT(state.resources().promised().holder(run_.cluster->node_of(gpu), now_) == own);
      }
    }
  }

  /// Requests of the core.
  void answer() {
    if (!waking_.empty() && random_.below(2) == 0) {
      const core::model::NodeId node = *waking_.begin();
      waking_.erase(node);
      apply({.kind = EventKind::NodeAwake, .node = node});
    }
    if (awaited_.empty()) return;
    const JobId job = *awaited_.begin();
    awaited_.erase(job);
    Event event{.kind = EventKind::RateObserved, .job = job};
    event.slowdown = 1 + random_.uniform();
    if (lives_on_->state().is_active(job)) apply(event);
  }

  void apply(Event event) {
    event.at_ns = now_;
    const std::string before = text_of(lives_on_->apply(event), *lives_on_);
    expect_same(before, text_of(made_anew_->apply(event), *made_anew_));
    expect_same(before, text_of(follows_->apply(event), *follows_));
  }

  void decide() {
    const auto& decision = lives_on_->decide(now_);
    const std::string before = text_of(decision.actions, *lives_on_);
    const auto& anew = made_anew_->decide(now_);
    expect_same(before, text_of(anew.actions, *made_anew_));
    follow(decision);
    RC_ASSERT(decision.placed == anew.placed);
    RC_ASSERT(decision.terminated == anew.terminated);
    check_promises();
    for (const Action& action : decision.actions) {
      if (action.kind == ActionKind::Observe) awaited_.insert(action.job);
      if (action.kind == ActionKind::Wake) waking_.insert(action.node);
      observed += action.kind == ActionKind::Observe ? 1 : 0;
      slept += action.kind == ActionKind::Rest ? 1 : 0;
      if (action.kind != ActionKind::Start) continue;
      shared += lives_on_->allocation(action.job).reason.prediction != 0 ? 1 : 0;
    }
    if (random_.below(3) == 0) {
      RC_ASSERT(lives_on_->take_disturbed() == made_anew_->take_disturbed());
    }
  }

  void follow(const core::scheduler::Decision& decision) {
    std::vector<core::model::Allocation> allocations;
    for (const Action& action : decision.actions) {
      if (action.kind != ActionKind::Start) continue;
      const core::model::Allocation& whole = lives_on_->allocation(action.job);
      // As in the journal: without the reason.
      allocations.push_back({.gpus = whole.gpus, .hosts = whole.hosts, .reason = {}});
    }
    const auto redone = follows_->redo(now_, decision.actions, allocations);
    if (!redone) RC_FAIL(redone.error().text());
    expect_same(holders(*lives_on_), holders(*follows_));
  }

  /// Allocations, waiting jobs, sleeping nodes, and power limits.
  std::string holders(const Core& core) const {
    std::string out;
    const auto& state = core.state();
    for (size_t i = 0; i < submitted_; ++i) {
      if (!state.is_active(JobId(i))) continue;
      const auto slot = state.slot_of(JobId(i));
      out += fmt::format("\njob {} {} {}", i, int(state.job(slot).phase),
                         state.job(slot).attained_ns(now_));
      if (state.job(slot).phase != JobPhase::Running) continue;
      for (const auto gpu : state.allocation(slot).gpus) out += fmt::format(" {}", gpu.value);
    }
    for (uint32_t node = 0; node < run_.cluster->nodes().size(); ++node) {
      const core::model::NodeId id(node);
      out += fmt::format("\nnode {} {} {} {}", node, state.resources().rooms()[node].open,
                         state.node_power().is_resting(id), state.node_power().is_waking(id));
    }
    for (uint32_t gpu = 0; core.tenants() != nullptr && gpu < run_.cluster->num_gpus(); ++gpu) {
      out += fmt::format("\ncap {}", core.tenants()->cap_of(core::model::GpuId(gpu)));
    }
    return out;
  }

  void replace() {
    ++replaced;
    const std::string text = to_json(made_anew_->image()).dump();
    expect_same(text, to_json(lives_on_->image()).dump());
    const auto image = parse_core_image(nlohmann::json::parse(text));
    if (!image) RC_FAIL(image.error().text());
    made_anew_ = fresh();
    const auto restored = made_anew_->restore(*image);
    if (!restored) RC_FAIL(restored.error().text());
    expect_same(text, to_json(made_anew_->image()).dump());
  }

  static void expect_same(const std::string& one, const std::string& other) {
    if (one == other) return;
    const auto at = std::ranges::mismatch(one, other).in1 - one.begin();
    const auto from = static_cast<size_t>(std::max<std::ptrdiff_t>(0, at - 200));
    RC_FAIL(fmt::format("images differ:\n{}\n{}", one.substr(from, 400), other.substr(from, 400)));
  }

  static std::string text_of(std::span<const Action> actions, const Core& core) {
    std::string out;
    for (const Action& a : actions) {
      fmt::format_to(std::back_inserter(out), "{} {} {}{}{} {} {} {} {}", int(a.kind), a.job.value,
                     a.same_gpus, a.undo, a.move, a.cap, a.gpu.value, a.node.value, a.until_ns);
      if (a.kind == ActionKind::Start) {
        for (const auto gpu : core.allocation(a.job).gpus) out += fmt::format(" g{}", gpu.value);
        for (const auto node : core.allocation(a.job).hosts) out += fmt::format(" n{}", node.value);
      }
      out += '\n';
    }
    return out;
  }

  base::Random random_;
  core::scheduler::SharingRun run_;
  Words words_;
  core::policy::RunContext context_;
  core::policy::SpeedModel speed_;
  std::unique_ptr<Core> lives_on_;
  std::unique_ptr<Core> made_anew_;
  std::unique_ptr<Core> follows_;  ///< carries out the decisions of the other cores
  TimeNs now_ = 0;
  size_t submitted_ = 0;
  std::array<int32_t, 3> array_limits_{2, 2, 2};  ///< of later tasks, too; 0 = none
  uint32_t reservations_ = 0;
  std::set<JobId> awaited_;
  std::set<core::model::NodeId> waking_;
};

TEST(CoreImageProperty, CoreMadeAnewDecidesLikeTheOneThatLivesOn) {
  int64_t replaced = 0;
  int64_t shared = 0;
  int64_t observed = 0;
  int64_t slept = 0;
  int64_t in_reservations = 0;
  int64_t found = 0;  ///< resources that others held, at the checks
  EXPECT_TRUE(rc::check([&] {
    Twins twins(*rc::gen::arbitrary<uint64_t>());
    twins.live();
    replaced += twins.replaced;
    shared += twins.shared;
    observed += twins.observed;
    slept += twins.slept;
    in_reservations += twins.in_reservations;
    found += twins.found;
  }));
  EXPECT_GT(replaced, 500);  // otherwise the test is void
  EXPECT_GT(shared, 0);
  EXPECT_GT(observed, 0);
  EXPECT_GT(slept, 0);
  EXPECT_GT(in_reservations, 100);
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace goban::live::controller
