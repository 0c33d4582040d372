#include "scheduler/core.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::scheduler {

using model::ActionKind;
using model::EventKind;
using model::JobPhase;
using policy::Preemption;

Core::Core(const policy::SpeedModel& speed, policy::PolicySet policies,
           const model::WorkOracle* oracle, uint64_t seed)
    : policies_(std::move(policies)),
      state_(speed, policies_, oracle),
      seed_(seed),
      gpu_mark_(speed.cluster->num_gpus()) {
  GOBAN_CHECK(policies_.sharing->jobs_per_gpu_max() == 1 && !policies_.power->may_rest());
}

std::span<const Action> Core::apply(const Event& event) {
  forced_.clear();
  switch (event.kind) {
    case EventKind::JobSubmitted:
      state_.submit(event);
      break;
    case EventKind::JobFinished:
    case EventKind::JobKilled:
      state_.end(event.job, event.at_ns);
      break;
    case EventKind::NodeLost:
      stop_jobs_on(event.node, ActionKind::Abandon, event.at_ns);
      break;
    case EventKind::NodeClosed:
      stop_jobs_on(event.node, ActionKind::Preempt, event.at_ns);
      break;
    case EventKind::NodeRestored:
      state_.resources().open(event.node);
      break;
    case EventKind::NodeDrained:
      state_.resources().drain(event.node, event.until_ns);
      break;
    case EventKind::RateObserved:
    case EventKind::NodeAwake:
    case EventKind::TimePassed:
      break;
  }
  return forced_;
}

void Core::stop_jobs_on(model::NodeId node, ActionKind kind, TimeNs now) {
  const model::Cluster& cluster = *state_.speed().cluster;
  std::vector<Slot> slots;
  for (const State::Running& running : state_.running()) {
    const Allocation& allocation = running.allocation;
    const bool here =
        std::ranges::any_of(allocation.gpus,
                            [&](GpuId gpu) { return cluster.node_of(gpu) == node; }) ||
        std::ranges::find(allocation.hosts, node) != allocation.hosts.end();
    if (here) slots.push_back(running.slot);
  }
  std::ranges::sort(slots, {}, [&](Slot slot) { return state_.job(slot).arrival; });
  for (const Slot slot : slots) {
    state_.stop(slot, now);
    forced_.push_back({.kind = kind, .job = state_.job(slot).job});
  }
  state_.resources().close(node);
}

const Decision& Core::decide(TimeNs now) {
  decision_.at_ns = now;
  decision_.actions.clear();
  decision_.placed.clear();
  decision_.terminated.clear();
  state_.promote_starved(now);
  if (now >= state_.resort_due_ns()) state_.resort(now);
  const bool anew = policies_.preemption == Preemption::NonSticky;
  if (state_.queue().empty() && !(anew && num_running() > 0)) return decision_;
  DecisionBoard board(state_, policies_, now, seed_);
  if (anew) board.release_all();
  policies_.select->run(board);
  conclude(board);
  return decision_;
}

void Core::conclude(const DecisionBoard& board) {
  fate_.resize(std::max(fate_.size(), state_.num_slots()), Fate::Untouched);
  for (const DecisionBoard::Released& released : board.released()) {
    const JobState& job = state_.job(released.slot);
    const bool stays = job.phase == JobPhase::Running &&
                       holds_same_gpus(released.slot, released.allocation.gpus) &&
                       state_.allocation(released.slot).hosts == released.allocation.hosts;
    fate_[released.slot] = stays ? Fate::Stays : Fate::Preempted;
    if (!stays) decision_.actions.push_back({.kind = ActionKind::Preempt, .job = job.job});
    if (!stays || policies_.list_released) decision_.terminated.push_back(job.job);
  }
  for (const Slot slot : board.started()) {
    const JobId job = state_.job(slot).job;
    decision_.placed.push_back(job);
    if (fate_[slot] == Fate::Stays) continue;
    const auto last = state_.last_gpus(slot);
    decision_.actions.push_back({.kind = ActionKind::Start,
                                 .job = job,
                                 .same_gpus = !last.empty() && holds_same_gpus(slot, last)});
  }
  for (const auto& released : board.released()) fate_[released.slot] = Fate::Untouched;
}

bool Core::holds_same_gpus(Slot slot, std::span<const GpuId> before) {
  const std::vector<GpuId>& gpus = state_.allocation(slot).gpus;
  if (gpus.size() != before.size()) return false;
  ++mark_;
  for (const GpuId gpu : before) gpu_mark_[gpu.index()] = mark_;
  return std::ranges::all_of(gpus, [&](GpuId gpu) { return gpu_mark_[gpu.index()] == mark_; });
}

bool Core::settled() const {
  if (state_.resort_due_ns() != base::kNever) return false;
  return !drifting();
}

bool Core::drifting() const {
  if (policies_.preemption == Preemption::None || num_running() == 0) return false;
  const bool anew = policies_.preemption == Preemption::NonSticky;
  if (anew && !policies_.placement->repeatable()) return true;
  return policies_.order->drifts() && (anew || num_waiting() > 0);
}

TimeNs Core::wake_ns() const {
  TimeNs wake = policies_.starvation_ns > 0 ? state_.next_starved_ns() : base::kNever;
  wake = std::min(wake, state_.resort_due_ns());
  if (drifting() && policies_.interval_ns > 0) {
    wake = std::min(wake, base::add_saturating(decision_.at_ns, policies_.interval_ns));
  }
  return wake;
}

}  // namespace goban::scheduler
