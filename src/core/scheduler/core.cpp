#include "core/scheduler/core.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/scheduler/evacuation.hpp"

namespace goban::core::scheduler {

using model::ActionKind;
using model::EventKind;
using model::JobPhase;
using policy::Preemption;

Core::Core(const policy::SpeedModel& speed, policy::PolicySet policies,
           const policy::RunContext& context, uint64_t seed)
    : policies_(std::move(policies)),
      state_(speed, policies_, context),
      seed_(seed),
      gpu_mark_(speed.cluster->num_gpus()) {
  const bool moves = policies_.migration->interval_ns() != base::kNever;
  if (policies_.sharing->when() == policy::ShareWhen::Never && !moves) return;
  GOBAN_CHECK(policies_.preemption != Preemption::NonSticky,
              "sharing and migration require sticky decisions");
  books_.emplace(state_, policies_, context, seed);
}

std::span<const Action> Core::apply(const Event& event) {
  forced_.clear();
  if (books_) books_->set_now(event.at_ns);
  switch (event.kind) {
    case EventKind::JobSubmitted:
      state_.submit(event);
      if (books_) books_->submitted(state_.job(state_.slot_of(event.job)));
      break;
    case EventKind::JobFinished:
    case EventKind::JobKilled:
      end_job(event);
      break;
    case EventKind::NodeLost:
      stop_jobs_on(event.node, ActionKind::Abandon, event.at_ns);
      break;
    case EventKind::NodeClosed:
      stop_jobs_on(event.node, ActionKind::Preempt, event.at_ns);
      break;
    case EventKind::NodeRestored:
      restore_node(event.node, event.at_ns);
      break;
    case EventKind::JobBroke:
      break_job(event);
      break;
    case EventKind::NodeDrained:
      state_.resources().drain(event.node, event.until_ns);
      state_.follow_power(event.node, event.at_ns);
      break;
    case EventKind::RateObserved:
      if (books_) books_->observed(event.job, event.slowdown);
      break;
    case EventKind::NodeAwake:
      // It may have failed while waking.
      if (!state_.node_power().is_waking(event.node)) break;
      state_.resources().reopen(event.node);
      state_.node_power().arrived(event.node, event.at_ns);
      if (!state_.resources().idle(event.node)) {  // somebody else's job is there
        state_.node_power().set_idle(event.node, false, event.at_ns);
      }
      break;
    case EventKind::NodesPromised:
      state_.resources().promised().add({event.reservation,
                                         event.from_ns,
                                         event.until_ns,
                                         {event.nodes.begin(), event.nodes.end()}});
      break;
    case EventKind::PromiseOver:
      state_.end_promise(event.reservation, event.at_ns);
      break;
    case EventKind::JobAltered:
      state_.alter(event);
      break;
    case EventKind::JobProgressed:
      if (!state_.is_active(event.job)) break;
      state_.expect(state_.slot_of(event.job), event.forecast, event.at_ns);
      break;
    case EventKind::JobMoved:
      if (!state_.is_active(event.job)) break;
      state_.move(state_.slot_of(event.job), event.reservation, event.at_ns);
      break;
    case EventKind::ArrayAltered:
      state_.alter_array(state_.job(state_.slot_of(event.job)).request.array,
                         event.array.max_running, event.at_ns);
      break;
    case EventKind::JobFound:
      find_job(event);
      break;
    case EventKind::FoundOver:
      state_.drop_found({event.job, event.gpu}, event.at_ns);
      break;
    case EventKind::TimePassed:
      break;
  }
  follow_neighbours();
  return forced_;
}

void Core::end_job(const Event& event) {
  if (books_ && state_.is_active(event.job)) {
    const JobState& job = state_.job(state_.slot_of(event.job));
    if (event.failed) books_->broke(job, books_->partners(event.job), event.out_of_memory);
    if (job.phase == JobPhase::Running) books_->measured_alone(job, event.alone);
    books_->ended(job);
  }
  state_.end(event.job, event.at_ns);
}

void Core::break_job(const Event& event) {
  // It may have lost its GPUs in the meantime.
  if (!state_.is_active(event.job)) return;
  const Slot slot = state_.slot_of(event.job);
  const JobState& job = state_.job(slot);
  if (job.phase != JobPhase::Running) return;
  if (books_ && !event.never_began) {
    books_->broke(job, books_->partners(event.job), event.out_of_memory);
  }
  state_.stop(slot, event.at_ns);
  forced_.push_back({.kind = ActionKind::Abandon, .job = event.job});
}

void Core::find_job(const Event& event) {
  const Holder holder{event.job, event.gpu};
  state_.drop_found(holder, event.at_ns);
  const auto withdraw = [&](Slot slot) {
    state_.stop(slot, event.at_ns);
    forced_.push_back({.kind = ActionKind::Preempt, .job = state_.job(slot).job});
  };
  std::vector<Slot> slots;
  const auto collect = [&](const auto& meets) {
    slots.clear();
    for (const Running& running : state_.running()) {
      if (meets(running.allocation)) slots.push_back(running.slot);
    }
    std::ranges::sort(slots, {}, [&](Slot slot) { return state_.job(slot).arrival; });
  };
  if (event.job.valid()) {
    ++mark_;
    for (const GpuId gpu : event.found->gpus) gpu_mark_[gpu.index()] = mark_;
    collect([&](const Allocation& each) {
      return std::ranges::any_of(each.gpus,
                                 [&](GpuId gpu) { return gpu_mark_[gpu.index()] == mark_; });
    });
    for (const Slot slot : slots) withdraw(slot);
  }
  state_.hold_found(holder, *event.found, event.at_ns);
  for (const model::HostPart& part : event.found->hosts) {
    if (!state_.resources().is_overcommitted(part.node)) continue;
    collect([&](const Allocation& each) {
      return std::ranges::find(each.hosts, part.node) != each.hosts.end();
    });
    // The last ones first. What remains is held by others.
    while (!slots.empty() && state_.resources().is_overcommitted(part.node)) {
      withdraw(slots.back());
      slots.pop_back();
    }
  }
}

void Core::restore_node(model::NodeId node, TimeNs now) {
  NodePower& nodes = state_.node_power();
  if (nodes.is_resting(node) || nodes.is_waking(node)) {
    state_.resources().drain(node, base::kNever);  // it did not fail, it sleeps
    return;
  }
  state_.resources().open(node);
  if (state_.resources().idle(node)) nodes.arrived(node, now);
}

void Core::follow_neighbours() {
  if (!state_.has_tenants()) return;
  const std::vector<JobId> changed = state_.tenants().take_changed();
  disturbed_.insert(disturbed_.end(), changed.begin(), changed.end());
  if (books_) books_->neighbours_changed(changed);
}

std::vector<JobId> Core::take_disturbed() {
  std::ranges::sort(disturbed_);
  const auto twice = std::ranges::unique(disturbed_);
  disturbed_.erase(twice.begin(), twice.end());
  return std::exchange(disturbed_, {});
}

std::vector<model::Breakage> Core::take_broken() {
  return books_ ? books_->take_broken() : std::vector<model::Breakage>{};
}

void Core::stop_jobs_on(model::NodeId node, ActionKind kind, TimeNs now) {
  const model::Cluster& cluster = *state_.speed().cluster;
  std::vector<Slot> slots;
  for (const Running& running : state_.running()) {
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
  state_.node_power().lost(node);
}

void Core::begin_decision(TimeNs now) {
  decision_.at_ns = now;
  decision_.actions.clear();
  decision_.placed.clear();
  decision_.terminated.clear();
  state_.promote_starved(now);
  if (now >= state_.resort_due_ns()) state_.resort(now);
  if (state_.sorts_in_batches()) state_.sort_batch(now);
  state_.keep_promised_awake(now);
}

void Core::keep_promises(TimeNs now) {
  for (const Slot slot : state_.strangers(now)) {
    state_.stop(slot, now);
    decision_.actions.push_back({.kind = ActionKind::Preempt, .job = state_.job(slot).job});
    decision_.terminated.push_back(state_.job(slot).job);
    follow_neighbours();
  }
  for (const PromisedNodes::Promise& each : state_.resources().promised().all()) {
    if (!each.holds_at(now)) continue;
    for (const NodeId node : each.nodes) {
      if (!state_.node_power().wake_one(node)) continue;
      decision_.actions.push_back({.kind = ActionKind::Wake, .node = node});
    }
  }
}

const Decision& Core::decide(TimeNs now) {
  begin_decision(now);
  keep_promises(now);
  if (books_) review_sharing(now);
  const bool anew = decides_anew();
  const bool someone_waits = !state_.queue().empty() || state_.num_waiting_in_reservations() > 0;
  if (someone_waits || (anew && num_running() > 0) || sizes_jobs()) select(now);
  if (books_) migrate(now);
  follow_neighbours();
  if (books_) {
    books_->choose_caps(state_.tenants(), decision_.actions);
    const std::vector<JobId> capped = state_.tenants().take_changed();
    disturbed_.insert(disturbed_.end(), capped.begin(), capped.end());
  }
  if (state_.node_power().active()) decide_power(now);
  return decision_;
}

void Core::select(TimeNs now) {
  DecisionBoard board(state_, policies_, books_ ? &*books_ : nullptr, now, seed_);
  std::vector<SizeChange> sizes;
  if (sizes_jobs()) sizes = choose_sizes(state_, policies_, now);
  if (decides_anew()) board.release_all();
  if (!sizes.empty()) board.resize(sizes);
  const auto run = [&] {
    board.policies().select->run(board);
    if (books_ && policies_.sharing->look_behind() > 0) {
      board.share_behind(policies_.sharing->look_behind());
    }
  };
  run();
  for (const PromisedNodes::Promise& each : state_.resources().promised().all()) {
    if (!each.holds_at(now) || state_.queue(each.reservation).empty()) continue;
    board.enter(each.reservation);
    run();
  }
  conclude(board);
  if (!books_) return;
  books_->settle(state_.tenants());  // jobs may have been evicted
  books_->announce(decision_.actions);
}

bool Core::decides_anew() const {
  return policies_.preemption == Preemption::NonSticky ||
         (policies_.of_part && policies_.of_part->preemption == Preemption::NonSticky);
}

bool Core::sizes_jobs() const {
  return state_.num_elastic() + state_.num_withheld() > 0 && policies_.size->decides();
}

void Core::begin_review(TimeNs now) {
  books_->set_now(now);
  books_->settle(state_.tenants());
  const TimeNs interval = policies_.sharing->review_interval_ns();
  if (now >= next_review_ns_) books_->review_all();
  if (interval != base::kNever && (next_review_ns_ == base::kNever || now >= next_review_ns_)) {
    next_review_ns_ = base::add_saturating(now, interval);
  }
}

void Core::review_sharing(TimeNs now) {
  begin_review(now);
  while (const auto leaver = books_->next_to_leave()) {
    state_.stop(state_.slot_of(leaver->job), now);
    books_->undone(*leaver);
    decision_.actions.push_back({.kind = ActionKind::Preempt, .job = leaver->job, .undo = true});
    decision_.terminated.push_back(leaver->job);
    follow_neighbours();
  }
}

bool Core::migration_is_due(TimeNs now) {
  const TimeNs interval = policies_.migration->interval_ns();
  if (interval == base::kNever) return false;
  const bool due = next_migration_ns_ != base::kNever && now >= next_migration_ns_;
  if (due || next_migration_ns_ == base::kNever) {
    next_migration_ns_ = base::add_saturating(now, interval);
  }
  return due;
}

void Core::migrate(TimeNs now) {
  // Waiting jobs and jobs just started take precedence.
  if (!migration_is_due(now) || !state_.queue().empty() || !decision_.placed.empty()) return;
  while (const auto evacuation = find_evacuation(state_, policies_, *books_, seed_)) {
    carry_out(*evacuation, now);
  }
}

void Core::carry_out(const policy::Evacuation& evacuation, TimeNs now) {
  std::vector<Allocation> places;
  for (const policy::Move& move : evacuation.moves) {
    const Slot slot = state_.slot_of(move.job->job);
    Allocation& place = places.emplace_back(state_.stop(slot, now));
    place.gpus = move.to;
    decision_.actions.push_back({.kind = ActionKind::Preempt, .job = move.job->job, .move = true});
    decision_.terminated.push_back(move.job->job);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const JobId job = evacuation.moves[i].job->job;
    state_.start(state_.slot_of(job), std::move(places[i]), now);
    decision_.actions.push_back({.kind = ActionKind::Start, .job = job});
    decision_.placed.push_back(job);
  }
}

void Core::decide_power(TimeNs now) {
  NodePower& nodes = state_.node_power();
  const auto is_drained = [&](model::NodeId node) {
    return state_.resources().usable_until_ns(node) <= now;
  };
  if (!state_.queue().empty()) {
    wake_for_waiting(is_drained);
    return;
  }
  for (const model::NodeId node : nodes.put_to_rest(now, is_drained)) {
    state_.resources().close(node);
    decision_.actions.push_back({.kind = ActionKind::Rest, .node = node});
  }
}

void Core::wake_for_waiting(const NodePower::Excepted& excepted) {
  constexpr int kLookedAt = 64;
  NodePower& nodes = state_.node_power();
  if (nodes.num_resting() == 0) return;
  const auto per_node = static_cast<int64_t>(state_.speed().cluster->node_gpus_max());
  int64_t whole = 0;
  int64_t parts = 0;  // GPUs of jobs smaller than a node
  const WaitQueue::Entry* entry = state_.queue().first();
  for (int i = 0; entry != nullptr && i < kLookedAt;
       ++i, entry = state_.queue().after(entry->key)) {
    if (entry->gpus >= per_node) {
      whole += (entry->gpus + per_node - 1) / per_node;
    } else {
      parts += std::max(entry->gpus, 1);
    }
  }
  const auto wanted = static_cast<size_t>(whole + (parts + per_node - 1) / per_node);
  if (wanted <= nodes.num_waking()) return;
  for (const model::NodeId node : nodes.wake(wanted - nodes.num_waking(), excepted)) {
    decision_.actions.push_back({.kind = ActionKind::Wake, .node = node});
  }
}

void Core::conclude(const DecisionBoard& board) {
  fate_.resize(std::max(fate_.size(), state_.num_slots()), Fate::Untouched);
  for (const DecisionBoard::Released& released : board.released()) {
    const JobState& job = state_.job(released.slot);
    const bool stays = job.phase == JobPhase::Running &&
                       holds_same_gpus(released.slot, released.allocation.gpus) &&
                       state_.allocation(released.slot).hosts == released.allocation.hosts;
    fate_[released.slot] = stays ? Fate::Stays : Fate::Preempted;
    if (!stays) {
      const bool resized =
          job.phase == JobPhase::Running &&
          state_.allocation(released.slot).gpus.size() != released.allocation.gpus.size();
      decision_.actions.push_back({.kind = ActionKind::Preempt, .job = job.job, .resize = resized});
    }
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
  const auto drifts = [this](const policy::PolicySet& of) {
    if (of.preemption == Preemption::None || of.preemption == Preemption::ByPriority ||
        num_running() == 0) {
      return false;
    }
    const bool anew = of.preemption == Preemption::NonSticky;
    if (anew && !of.placement->repeatable()) return true;
    return of.order->drifts() && (anew || num_waiting() > 0);
  };
  return drifts(policies_) || (policies_.of_part && drifts(*policies_.of_part));
}

TimeNs Core::wake_ns() const {
  TimeNs wake = std::min(state_.next_starved_ns(), state_.resort_due_ns());
  const std::vector<TimeNs> changes = state_.resources().promised().changes_after(decision_.at_ns);
  if (!changes.empty()) wake = std::min(wake, changes.front());
  if (books_) {
    wake = std::min({wake, books_->next_deadline_ns(),
                     num_running() > 1 ? next_review_ns_ : base::kNever,
                     num_running() > 1 ? next_migration_ns_ : base::kNever});
  }
  if (state_.queue().empty()) wake = std::min(wake, state_.node_power().next_rest_ns());
  wake = std::min(wake, state_.next_late_ns(decision_.at_ns));
  if (drifting() && policies_.interval_ns > 0) {
    wake = std::min(wake, base::add_saturating(decision_.at_ns, policies_.interval_ns));
  }
  return wake;
}

}  // namespace goban::core::scheduler
