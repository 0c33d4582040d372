// A decision in progress: which running jobs give way.
#include <algorithm>
#include <tuple>

#include "core/policy/order/expected_left.hpp"
#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {

bool DecisionBoard::stays(const JobState& job) const {
  const bool relaunched = job.starts > 1;
  return job.request.stays || (relaunched && now_ - job.run_start_ns < policies_->hold_ns);
}

void DecisionBoard::build_tail() {
  if (has_tail_) return;
  has_tail_ = true;
  for (const Running& running : state_.running()) {
    const JobState& job = state_.job(running.slot);
    if (job.run_start_ns == now_ && std::ranges::find(started_, running.slot) != started_.end()) {
      continue;
    }
    if (stays(job) || job.request.reservation != whose_) continue;
    const int32_t gpus = gpus_here(running.slot);
    if (gpus == 0 && job.request.num_gpus > 0) continue;  // its GPUs are for others
    tail_.push_back({state_.key(job, now_), running.slot, gpus});
  }
  std::ranges::make_heap(tail_, {}, &Evictable::key);
}

void DecisionBoard::keep_in_tail(const Evictable& each) {
  tail_.push_back(each);
  std::ranges::push_heap(tail_, {}, &Evictable::key);
}

bool DecisionBoard::gives_way(const Evictable& each, const JobState& job) {
  const bool by_priority = policies_->preemption == policy::Preemption::ByPriority;
  return each.key > state_.queue_key(state_.slot_of(job.job)) &&
         (!by_priority || state_.job(each.slot).request.priority < job.request.priority) &&
         (!policies_->price.asked || pays(state_.job(each.slot), job));
}

TimeNs DecisionBoard::expected_wait_ns(const JobState& job) {
  if (!has_expected_) {
    has_expected_ = true;
    for (const Running& running : state_.running()) {
      const JobState& each = state_.job(running.slot);
      expected_.push_back({policy::expected_left_ns(each, now_), gpus_here(running.slot)});
    }
    std::ranges::sort(expected_, {}, &Expected::left_ns);
  }
  int64_t free = free_gpus();
  for (const Expected& each : expected_) {
    if (free >= job.request.num_gpus) return 0;
    free += each.gpus;
    if (free >= job.request.num_gpus) return each.left_ns;
  }
  return base::kNever;
}

bool DecisionBoard::pays(const JobState& victim, const JobState& job) {
  /// What the victim loses must be less than this share of what it still has to run.
  constexpr int64_t kShare = 4;
  constexpr TimeNs kWaitedLong_ns = base::kDay;
  const TimeNs waited = now_ - job.waiting_since_ns;
  const bool precedes = job.request.priority > victim.request.priority;
  // A promised start keeps jobs from starving. Where nothing can be promised, patience ends.
  const bool starves = !state_.head_promise(whose_).job.valid() && waited >= kWaitedLong_ns;
  if (precedes || starves) return true;
  const policy::PreemptionPrice& price = policies_->price;
  TimeNs cost = base::add_saturating(price.restart_ns, policy::expected_left_ns(job, now_));
  if (price.checkpoint_ns > 0) {
    cost = base::add_saturating(cost, (now_ - victim.run_start_ns) % price.checkpoint_ns);
  }
  if (cost > policy::expected_left_ns(victim, now_) / kShare) return false;
  // Jobs ahead of it may take what becomes free: who has waited for long is expected to go on.
  return cost <= std::max(expected_wait_ns(job), waited);
}

bool DecisionBoard::spared(const JobState& job) const {
  return policies_->sharing->spares_promises() &&
         policies_->preemption != policy::Preemption::ByPriority && books_->can_keep_promise(job);
}

bool DecisionBoard::make_room_by_trial(const JobState& job) {
  Resources trial = state_.resources();
  Allocation found;
  std::vector<Evictable> asked;  // last in order first
  std::vector<Evictable> spare;
  bool fits = false;
  while (!fits && !tail_.empty() && gives_way(tail_.front(), job)) {
    std::ranges::pop_heap(tail_, {}, &Evictable::key);
    const Evictable last = tail_.back();
    tail_.pop_back();
    if (spared(state_.job(last.slot))) {
      spare.push_back(last);
      continue;
    }
    asked.push_back(last);
    trial.give(state_.job(asked.back().slot).request, state_.allocation(asked.back().slot));
    fits = job.request.num_gpus <= trial.free_gpus() &&
           find_in(trial, job, now_, placement_seed(seed_, job.job, now_), found);
  }
  for (const Evictable& each : spare) keep_in_tail(each);
  for (const Evictable& each : asked) {
    const bool in_the_way =
        job.request.resource_type.valid() || overlap(state_.allocation(each.slot).gpus, found.gpus);
    if (fits && in_the_way) {
      release(each.slot, each.key);
    } else {
      keep_in_tail(each);
    }
  }
  if (fits) commit(job, std::move(found));
  return fits;
}

bool DecisionBoard::make_room_and_start(Job job) {
  // The job can wait for a node to wake instead.
  const NodePower& nodes = state_.node_power();
  const auto is_drained = [&](model::NodeId node) {
    return state_.resources().usable_until_ns(node) <= now_;
  };
  if (nodes.num_waking() > 0 || nodes.may_wake(is_drained)) return false;
  build_tail();
  if (books_ != nullptr) return make_room_by_trial(*job);
  if (!policies_->evict_in_vain) {
    int64_t room = free_gpus();
    for (const Evictable& each : tail_) room += gives_way(each, *job) ? each.gpus : 0;
    if (room < job->request.num_gpus) return false;
  }
  const size_t released_before = released_.size();
  while (!tail_.empty() && gives_way(tail_.front(), *job)) {
    const Evictable last = tail_.front();
    std::ranges::pop_heap(tail_, {}, &Evictable::key);
    tail_.pop_back();
    release(last.slot, last.key);
    if (free_gpus() >= job->request.num_gpus && start(job)) return true;
  }
  if (policies_->evict_in_vain) return false;
  restore_released(released_before);  // the job does not fit even so
  return false;
}

void DecisionBoard::restore_released(size_t count) {
  while (released_.size() > count) {
    Released& back = released_.back();
    state_.start(back.slot, std::move(back.allocation), now_);
    keep_in_tail({back.key, back.slot, gpus_here(back.slot)});
    released_.pop_back();
  }
}

bool DecisionBoard::redeem_late(Job job) {
  const HeadPromise promise = state_.head_promise(whose_);
  const bool is_promised = promise.job.valid() && promise.job == job->job;
  const bool may = policies_->late_bound_ns > 0 && policy::evicts(policies_->preemption);
  if (!is_promised || !may || !counts_suffice(*job)) return false;
  if (now_ < base::add_saturating(promise.at_ns, policies_->late_bound_ns)) return false;
  struct Victim {
    TimeNs since_ns = 0;
    uint32_t arrival = 0;
    Slot slot = 0;
  };
  std::vector<Victim> victims;
  int64_t room = free_gpus();
  for (const Running& running : state_.running()) {
    const JobState& each = state_.job(running.slot);
    const bool is_new = std::ranges::find(started_, running.slot) != started_.end();
    const bool may_yield = !each.request.stays && !is_new && each.request.reservation == whose_ &&
                           each.request.priority <= job->request.priority;
    const int32_t gpus = gpus_here(running.slot);
    if (!may_yield || gpus == 0) continue;
    victims.push_back({each.run_start_ns, each.arrival, running.slot});
    room += gpus;
  }
  if (room < job->request.num_gpus) return false;
  // What was backfilled since the promise started last. What ran before had to have ended by now.
  std::ranges::sort(victims, [](const Victim& a, const Victim& b) {
    return std::tie(a.since_ns, a.arrival) > std::tie(b.since_ns, b.arrival);
  });
  const size_t released_before = released_.size();
  bool starts = false;
  for (size_t i = 0; i < victims.size() && !starts; ++i) {
    release(victims[i].slot, state_.key(state_.job(victims[i].slot), now_));
    starts = free_gpus() >= job->request.num_gpus && start(job);
  }
  if (!starts) restore_released(released_before);
  tail_.clear();
  has_tail_ = false;
  expected_.clear();
  has_expected_ = false;
  return starts;
}

}  // namespace goban::core::scheduler
