// The state of the core: the queues, their order, and jobs that waited too long.
#include <algorithm>

#include "base/check.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

std::deque<Waiter>& State::waiters_of(const JobState& job) {
  return &policies_of(job) == policies_ ? waiters_ : part_waiters_;
}

void State::note_waiter(const JobState& job) {
  if (policies_of(job).starvation_ns == 0 || job.promoted) return;
  std::deque<Waiter>& waiters = waiters_of(job);
  const Waiter waiter{job.waiting_since_ns, job.job};
  // Who is moved may have waited for longer than the others.
  waiters.insert(std::ranges::upper_bound(waiters, waiter.since, {}, &Waiter::since), waiter);
}

void State::enqueue(Slot slot, TimeNs now) {
  insert(slot, now);
  const bool asks =
      batches_ == policy::KeyBatches::Newcomers && &policies_of(jobs_[slot]) == policies_;
  if (asks && !policies_->order->is_final(jobs_[slot])) newcomers_.push_back(jobs_[slot].job);
}

void State::insert(Slot slot, TimeNs now) {
  const JobState& job = jobs_[slot];
  queue_keys_[slot] = key(job, now);
  queue_of(slot).insert(
      {.key = queue_keys_[slot],
       .slot = slot,
       .gpus = job.request.num_gpus,
       .shape = shapes_[slot],
       .scales = estimates_ && scales(job),
       .duration_ns = estimates_ ? duration_ns(job, lowest_slowdown(job), now) : 0});
}

WaitQueue& State::queue_of(Slot slot) {
  const ReservationId whose = jobs_[slot].request.reservation;
  return whose.valid() ? queues_of_reservations_[whose] : queue_;
}

const WaitQueue& State::queue(ReservationId whose) const {
  static const WaitQueue nobody;
  if (!whose.valid()) return queue_;
  const auto found = queues_of_reservations_.find(whose);
  return found == queues_of_reservations_.end() ? nobody : found->second;
}

size_t State::num_waiting_in_reservations() const {
  size_t count = 0;
  for (const auto& [whose, queue] : queues_of_reservations_) count += queue.size();
  return count;
}

void State::dequeue(Slot slot) {
  const Accounts::Node limit = set_aside_at_[slot];
  if (limit == Accounts::kNone) {
    queue_of(slot).erase(queue_keys_[slot]);
    return;
  }
  set_aside_[limit].erase(queue_keys_[slot]);
  set_aside_at_[slot] = Accounts::kNone;
  --num_set_aside_;
}

void State::set_aside(Slot slot, Accounts::Node limit) {
  WaitQueue& queue = queue_of(slot);
  const WaitQueue::Entry* entry = queue.find(queue_keys_[slot]);
  GOBAN_CHECK(entry != nullptr && set_aside_at_[slot] == Accounts::kNone);
  set_aside_[limit].insert(*entry);
  queue.erase(queue_keys_[slot]);
  set_aside_at_[slot] = limit;
  ++num_set_aside_;
}

void State::bring_back(uint32_t association) {
  // The first jobs that fit individually, possibly more than can start together: limits are checked
  // again at each start.
  constexpr int kMost = 64;
  for (Accounts::Node node = accounts_.leaf(association); node != Accounts::kNone;
       node = accounts_.parent(node)) {
    const auto found = set_aside_.find(node);
    if (found == set_aside_.end()) continue;
    WaitQueue& aside = found->second;
    const policy::Gap room{
        .free_gpus = accounts_.headroom_gpus(node), .duration_ns = base::kNever, .spare_gpus = 0};
    for (int taken = 0; taken < kMost && !aside.empty(); ++taken) {
      const WaitQueue::Entry* entry = aside.first();
      if (entry->gpus > room.free_gpus) entry = aside.after_fitting(entry->key, room);
      if (entry == nullptr) break;
      const WaitQueue::Entry moved = *entry;
      aside.erase(moved.key);
      queue_of(moved.slot).insert(moved);
      set_aside_at_[moved.slot] = Accounts::kNone;
      --num_set_aside_;
    }
  }
}

TimeNs State::resort_period_ns() const {
  const TimeNs period = policies_->order->resort_ns();
  const TimeNs other = policies_->of_part ? policies_->of_part->order->resort_ns() : 0;
  return period == 0 || other == 0 ? std::max(period, other) : std::min(period, other);
}

void State::resort(TimeNs now) {
  const TimeNs period = resort_period_ns();
  GOBAN_CHECK(period > 0);
  resort_due_ns_ = (now / period + 1) * period;
  const bool fair = policies_->order->uses_fair_share() ||
                    (policies_->of_part && policies_->of_part->order->uses_fair_share());
  if (fair) fair_share_ = accounts_.fair_share(now);
  sort_anew(queue_, now, true);
  for (auto& [whose, queue] : queues_of_reservations_) sort_anew(queue, now, true);
  for (auto& [node, aside] : set_aside_) sort_anew(aside, now, true);
}

void State::sort_all(TimeNs now) {
  sort_anew(queue_, now, false);
  for (auto& [whose, queue] : queues_of_reservations_) sort_anew(queue, now, false);
  for (auto& [node, aside] : set_aside_) sort_anew(aside, now, false);
}

void State::sort_anew(WaitQueue& queue, TimeNs now, bool resorts) {
  std::vector<WaitQueue::Entry> entries = queue.take_all();
  const auto is_asked = [&](const WaitQueue::Entry& entry) {
    const policy::PolicySet& of = policies_of(jobs_[entry.slot]);
    return resorts ? of.order->resort_ns() > 0 : &of == policies_;
  };
  std::vector<const JobState*> batch;
  for (const WaitQueue::Entry& entry : entries) {
    if (sorts_in_batches() && is_asked(entry)) batch.push_back(&jobs_[entry.slot]);
  }
  if (!batch.empty()) prepare_keys(batch, now);
  for (WaitQueue::Entry& entry : entries) {
    if (!is_asked(entry)) continue;
    entry.key = key(jobs_[entry.slot], now);
    queue_keys_[entry.slot] = entry.key;
  }
  std::ranges::sort(entries, {}, &WaitQueue::Entry::key);
  queue.assign(entries);
}

void State::prepare_keys(std::vector<const JobState*>& jobs, TimeNs now) {
  if (policies_->preemption != policy::Preemption::None) {
    for (const Running& running : running_) jobs.push_back(&jobs_[running.slot]);
  }
  policies_->order->prepare(jobs, now);
}

void State::sort_newcomers(TimeNs now) {
  std::ranges::sort(newcomers_);
  const auto twice = std::ranges::unique(newcomers_);
  newcomers_.erase(twice.begin(), twice.end());
  std::erase_if(newcomers_, [this](JobId id) {
    return !is_active(id) || jobs_[slot_of(id)].phase != JobPhase::Waiting ||
           policies_->order->is_final(jobs_[slot_of(id)]);
  });
  const bool yields = policies_->preemption != policy::Preemption::None;
  if (newcomers_.empty() && !(yields && policies_->order->drifts())) return;
  std::vector<const JobState*> jobs;
  for (const JobId id : newcomers_) jobs.push_back(&jobs_[slot_of(id)]);
  prepare_keys(jobs, now);
  for (const JobId id : newcomers_) {
    const Slot slot = slot_of(id);
    if (set_aside_at_[slot] != Accounts::kNone) continue;
    dequeue(slot);
    insert(slot, now);
  }
  newcomers_.clear();
}

void State::sort_batch(TimeNs now) {
  const bool room = resources_.free_gpus() > 0 || queue_.count_without_gpus() > 0;
  if (!room && policies_->preemption == policy::Preemption::None) return;
  if (queue_.empty() && policies_->preemption != policy::Preemption::NonSticky) return;
  if (batches_ == policy::KeyBatches::All) sort_all(now);
  if (batches_ == policy::KeyBatches::Newcomers) sort_newcomers(now);
}

TimeNs State::resort_due_ns() const {
  const bool nobody = queue_.empty() && num_set_aside_ == 0 && num_waiting_in_reservations() == 0;
  return nobody || resort_period_ns() == 0 ? base::kNever : resort_due_ns_;
}

void State::promote_starved(TimeNs now) {
  promote_starved(waiters_, *policies_, now);
  if (policies_->of_part) promote_starved(part_waiters_, *policies_->of_part, now);
}

void State::promote_starved(std::deque<Waiter>& waiters, const policy::PolicySet& of, TimeNs now) {
  if (of.starvation_ns == 0) return;
  for (; !waiters.empty(); waiters.pop_front()) {
    const Waiter waiter = waiters.front();
    const bool waits = is_active(waiter.job) &&
                       jobs_[slot_of(waiter.job)].phase == JobPhase::Waiting &&
                       jobs_[slot_of(waiter.job)].waiting_since_ns == waiter.since &&
                       &policies_of(jobs_[slot_of(waiter.job)]) == &of;
    if (!waits) continue;
    if (now - waiter.since < of.starvation_ns) return;
    JobState& job = jobs_[slot_of(waiter.job)];
    dequeue(slot_of(job.job));
    job.promoted = true;
    enqueue(slot_of(job.job), job.waiting_since_ns);
  }
}

TimeNs State::next_starved_ns() const {
  const auto next_of = [](const std::deque<Waiter>& waiters, const policy::PolicySet& of) {
    return waiters.empty() || of.starvation_ns == 0
               ? base::kNever
               : base::add_saturating(waiters.front().since, of.starvation_ns);
  };
  const TimeNs next = next_of(waiters_, *policies_);
  return policies_->of_part ? std::min(next, next_of(part_waiters_, *policies_->of_part)) : next;
}

}  // namespace goban::core::scheduler
