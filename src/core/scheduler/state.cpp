#include "core/scheduler/state.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

namespace {

double lowest_score(const knowledge::PmScores& scores) {
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < scores.num_classes(); ++c) {
    lowest =
        std::min(lowest, std::ranges::min(scores.of(model::AppClass{static_cast<uint8_t>(c)}).raw));
  }
  return lowest;
}

PartPlacement placement_of_part(const policy::PolicySet& policies) {
  if (!policies.of_part) return {};
  return {policies.part, policies.of_part->placement.get()};
}

}  // namespace

State::State(const policy::SpeedModel& speed, const policy::PolicySet& policies,
             const policy::RunContext& context)
    : policies_(&policies),
      oracle_(context.oracle),
      speed_(speed),
      node_power_(*speed.cluster, *policies.power, context.knowledge.get()),
      fastest_(lowest_score(*speed.scores)),
      accounts_(*policies.rules),
      resources_(speed, *policies.placement, policies.sharing->jobs_per_gpu_max(),
                 placement_of_part(policies)),
      elastic_(speed_, context) {
  if (context.knowledge != nullptr || policies.sharing->when() != policy::ShareWhen::Never) {
    tenants_.emplace(*speed.cluster);
  }
  const policy::PolicySet* part = policies.of_part.get();
  uses_accounts_ = policies.order->uses_fair_share() || accounts_.has_limits() ||
                   (part != nullptr && part->order->uses_fair_share());
  estimates_ = policies.needs_estimates || (part != nullptr && part->needs_estimates);
  batches_ = policies.order->batches();
}

void State::submit(const model::Event& submitted) {
  GOBAN_CHECK(!is_active(submitted.job), "a job is submitted twice");
  Slot slot = static_cast<Slot>(jobs_.size());
  if (free_slots_.empty()) {
    jobs_.emplace_back();
    queue_keys_.emplace_back();
    shapes_.push_back(0);
    set_aside_at_.push_back(Accounts::kNone);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  JobState& job = jobs_[slot];
  job = {.request = *submitted.request, .job = submitted.job, .arrival = arrivals_++};
  job.forecast = submitted.forecast;
  if (submitted.training != nullptr) job.training = *submitted.training;
  if (job.training.sharing == model::SharingRequest::Unsaid) {
    job.training.sharing = policies_->rules->sharing_of(job.request.partition);
  }
  register_job(slot);

  if (job.request.array.valid() && submitted.array.max_running > 0) {
    ArrayBooks& books = arrays_[job.request.array];
    if (books.active >= submitted.array.max_running) {
      job.phase = JobPhase::Held;
      books.held.push_back(slot);
      return;
    }
    ++books.active;
  }
  wait(slot, submitted.at_ns);
}

void State::register_job(Slot slot) {
  JobState& job = jobs_[slot];
  const model::JobRequest& request = job.request;
  if (slot_of_job_.size() <= job.job.index()) slot_of_job_.resize(job.job.index() + 1, kNoSlot);
  slot_of_job_[job.job.index()] = slot;
  shapes_[slot] = shape_number(request);
  if (uses_accounts_) job.association = accounts_.association(request.account, request.user);
  job.elastic = elastic_.is_elastic(job);
  num_elastic_ += job.elastic ? 1 : 0;
}

uint32_t State::shape_number(const model::JobRequest& request) {
  return shape_numbers_
      .try_emplace({request.num_gpus, request.resource_type, request.instances, request.app_class,
                    request.reservation},
                   static_cast<uint32_t>(shape_numbers_.size()))
      .first->second;
}

void State::wait(Slot slot, TimeNs now) {
  JobState& job = jobs_[slot];
  job.phase = JobPhase::Waiting;
  job.waiting_since_ns = now;
  demand_gpus_ += job.request.num_gpus;
  enqueue(slot, now);
  note_waiter(job);
}

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

void State::set_size(Slot slot, policy::Size size, TimeNs now) {
  JobState& job = jobs_[slot];
  GOBAN_CHECK(job.elastic && job.phase == JobPhase::Waiting && size.gpus > 0);
  job.gpu_model = size.gpu_model;
  if (job.request.num_gpus == size.gpus) return;
  dequeue(slot);
  demand_gpus_ += size.gpus - job.request.num_gpus;
  job.request.num_gpus = size.gpus;
  shapes_[slot] = shape_number(job.request);
  insert(slot, now);
}

void State::set_withheld(Slot slot, bool withheld) {
  JobState& job = jobs_[slot];
  if (job.withheld == withheld) return;
  job.withheld = withheld;
  num_withheld_ = withheld ? num_withheld_ + 1 : num_withheld_ - 1;
}

void State::start(Slot slot, Allocation allocation, TimeNs now) {
  JobState& job = jobs_[slot];
  GOBAN_CHECK(job.phase == JobPhase::Waiting);
  if (job.withheld) set_withheld(slot, false);  // a recorded decision
  dequeue(slot);
  resources_.take(job.request, allocation);
  if (job.elastic) {
    const model::NodeId node = speed_.cluster->node_of(allocation.gpus.front());
    job.gpu_model = speed_.cluster->node(node).gpu_model;
  }
  if (uses_accounts_) accounts_.started(job.association, job.request.num_gpus, now);
  if (tenants_ && !allocation.gpus.empty()) {
    tenants_->add(job.job, traits_of(job), allocation.gpus, now);
  }
  follow_power(allocation, now);
  if (estimates_) {
    const double slowdown = speed_.slowdown(job.request, allocation.gpus);
    job.predicted_end_ns = base::add_saturating(now, duration_ns(job, slowdown, now));
    ends_.emplace(job.predicted_end_ns, slot);
  }
  job.phase = JobPhase::Running;
  job.run_start_ns = now;
  job.running_slot = static_cast<uint32_t>(running_.size());
  ++job.starts;
  running_.push_back({slot, std::move(allocation)});
}

Allocation State::remove_running(Slot slot, TimeNs now) {
  const JobState& job = jobs_[slot];
  if (estimates_) ends_.erase({job.predicted_end_ns, slot});
  Running& place = running_[job.running_slot];
  Allocation allocation = std::move(place.allocation);
  resources_.give(job.request, allocation);
  if (tenants_) tenants_->remove(job.job, now);
  follow_power(allocation, now);
  if (&place != &running_.back()) {
    place = std::move(running_.back());
    jobs_[place.slot].running_slot = job.running_slot;
  }
  running_.pop_back();
  if (uses_accounts_) {
    accounts_.stopped(job.association, job.request.num_gpus, now);
    if (num_set_aside_ > 0) bring_back(job.association);
  }
  return allocation;
}

model::TraitsId State::traits_of(const JobState& job) {
  return tenants_->intern({.app = job.request.app,
                           .util_pct = job.training.gpu_util_pct,
                           .mem_bytes = job.training.gpu_mem_bytes,
                           .sharing = job.training.sharing});
}

void State::follow_power(NodeId node, TimeNs now) {
  if (!node_power_.active()) return;
  const bool kept = resources_.promised().holder(node, now).valid();
  const bool drained = resources_.usable_until_ns(node) <= now;
  node_power_.set_idle(node, resources_.idle(node) && !kept && !drained, now);
}

void State::follow_power(const Allocation& allocation, TimeNs now) {
  if (!node_power_.active()) return;
  NodeId last;
  const auto follow = [&](NodeId node) {
    if (node == last) return;
    last = node;
    follow_power(node, now);
  };
  for (const GpuId gpu : allocation.gpus) follow(speed_.cluster->node_of(gpu));
  for (const NodeId node : allocation.hosts) follow(node);
}

void State::follow_power(const model::FoundAllocation& found, TimeNs now) {
  Allocation nodes;
  nodes.gpus = found.gpus;
  for (const model::HostPart& part : found.hosts) nodes.hosts.push_back(part.node);
  follow_power(nodes, now);
}

void State::hold_found(Holder holder, const model::FoundAllocation& found, TimeNs now) {
  GOBAN_CHECK(!found_.contains(holder), "a found allocation is held twice");
  resources_.take_found(found);
  found_.emplace(holder, found);
  follow_power(found, now);
}

void State::drop_found(Holder holder, TimeNs now) {
  const auto held = found_.find(holder);
  if (held == found_.end()) return;
  const model::FoundAllocation found = std::move(held->second);
  found_.erase(held);
  resources_.give_found(found);
  follow_power(found, now);
}

void State::keep_promised_awake(TimeNs now) {
  for (const PromisedNodes::Promise& each : resources_.promised().all()) {
    if (!each.holds_at(now)) continue;
    for (const NodeId node : each.nodes) node_power_.set_idle(node, false, now);
  }
}

void State::end_promise(ReservationId reservation, TimeNs now) {
  const auto* promise = resources_.promised().find(reservation);
  if (promise == nullptr) return;
  const std::vector<NodeId> nodes = promise->nodes;
  resources_.promised().remove(reservation);
  if (!node_power_.active()) return;
  for (const NodeId node : nodes) node_power_.set_idle(node, resources_.idle(node), now);
}

int32_t State::gpus_within(Slot slot, ReservationId whose, TimeNs now) const {
  const PromisedNodes& promised = resources_.promised();
  const std::vector<GpuId>& gpus = allocation(slot).gpus;
  if (promised.empty()) return whose.valid() ? 0 : static_cast<int32_t>(gpus.size());
  return static_cast<int32_t>(std::ranges::count_if(gpus, [&](GpuId gpu) {
    return promised.holder(speed_.cluster->node_of(gpu), now) == whose;
  }));
}

std::vector<Slot> State::strangers(TimeNs now) const {
  std::vector<Slot> found;
  const PromisedNodes& promised = resources_.promised();
  if (promised.has_only_parts()) return found;
  for (const Running& running : running_) {
    const ReservationId own = jobs_[running.slot].request.reservation;
    const auto strange = [&](NodeId node) {
      const ReservationId holder = promised.holder(node, now);
      return holder.valid() && holder != own && !promised.find(holder)->is_part();
    };
    const auto& [gpus, hosts, reason] = running.allocation;
    if (std::ranges::any_of(gpus,
                            [&](GpuId gpu) { return strange(speed_.cluster->node_of(gpu)); }) ||
        std::ranges::any_of(hosts, strange)) {
      found.push_back(running.slot);
    }
  }
  std::ranges::sort(found, {}, [this](Slot slot) { return jobs_[slot].arrival; });
  return found;
}

Allocation State::stop(Slot slot, TimeNs now) {
  JobState& job = jobs_[slot];
  GOBAN_CHECK(job.phase == JobPhase::Running);
  Allocation allocation = remove_running(slot, now);
  if (job.elastic) job.steps_done += elastic_.run_steps(job, allocation.gpus, now);
  job.attained_before_ns = job.attained_ns(now);
  last_gpus_[slot] = allocation.gpus;
  demand_gpus_ -= job.request.num_gpus;
  wait(slot, now);
  return allocation;
}

void State::end(JobId id, TimeNs now) {
  GOBAN_CHECK(is_active(id), "an unknown job ended");
  const Slot slot = slot_of(id);
  const JobState& job = jobs_[slot];
  const model::ArrayId array = job.request.array;
  const bool held = job.phase == JobPhase::Held;
  if (job.withheld) set_withheld(slot, false);
  num_elastic_ -= job.elastic ? 1 : 0;
  if (!held) demand_gpus_ -= job.request.num_gpus;
  switch (job.phase) {
    case JobPhase::Running:
      remove_running(slot, now);
      break;
    case JobPhase::Waiting:
      dequeue(slot);
      break;
    case JobPhase::Held:
      std::erase(arrays_[array].held, slot);
      break;
  }
  if (!last_gpus_.empty()) last_gpus_.erase(slot);
  slot_of_job_[id.index()] = kNoSlot;
  free_slots_.push_back(slot);
  if (array.valid() && !held) release_array_place(array, now);
}

void State::release_array_place(model::ArrayId array, TimeNs now) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return;
  ArrayBooks& books = found->second;
  if (books.held.empty() || books.surplus > 0) {
    --books.active;
    books.surplus = std::max(books.surplus - 1, 0);
    return;
  }
  const Slot next = books.held.front();
  books.held.pop_front();
  wait(next, now);
}

void State::alter(const model::Event& altered) {
  const Slot slot = slot_of(altered.job);
  JobState& job = jobs_[slot];
  GOBAN_CHECK(job.phase != JobPhase::Running, "a running job is altered");
  const bool waits = job.phase == JobPhase::Waiting;
  if (waits) dequeue(slot);
  job.request.walltime_limit_ns = altered.request->walltime_limit_ns;
  job.request.priority = altered.request->priority;
  if (waits) enqueue(slot, altered.at_ns);
}

std::vector<Slot> State::tasks_of(model::ArrayId array) const {
  std::vector<Slot> out;
  for (const Slot slot : slot_of_job_) {
    if (slot != kNoSlot && jobs_[slot].request.array == array) out.push_back(slot);
  }
  std::ranges::sort(out, {}, [this](Slot slot) { return jobs_[slot].arrival; });
  return out;
}

void State::hold_task(Slot slot, ArrayBooks& books) {
  dequeue(slot);
  demand_gpus_ -= jobs_[slot].request.num_gpus;
  jobs_[slot].phase = JobPhase::Held;
  const auto later = std::ranges::upper_bound(books.held, jobs_[slot].arrival, {},
                                              [this](Slot each) { return jobs_[each].arrival; });
  books.held.insert(later, slot);
  --books.active;
}

void State::alter_array(model::ArrayId array, int32_t max_running, TimeNs now) {
  const std::vector<Slot> tasks = tasks_of(array);
  ArrayBooks& books = arrays_[array];
  books.active = static_cast<int32_t>(std::ranges::count_if(
      tasks, [this](Slot slot) { return jobs_[slot].phase != JobPhase::Held; }));
  while (!books.held.empty() && (max_running == 0 || books.active < max_running)) {
    const Slot next = books.held.front();
    books.held.pop_front();
    ++books.active;
    wait(next, now);
  }
  if (max_running == 0) {
    arrays_.erase(array);
    return;
  }
  for (auto task = tasks.rbegin(); task != tasks.rend() && books.active > max_running; ++task) {
    if (jobs_[*task].phase == JobPhase::Waiting) hold_task(*task, books);
  }
  books.surplus = std::max(books.active - max_running, 0);
}

void State::move(Slot slot, ReservationId whose, TimeNs now) {
  JobState& job = jobs_[slot];
  if (job.request.reservation == whose) return;
  const bool waits = job.phase == JobPhase::Waiting;
  if (waits) dequeue(slot);
  job.request.reservation = whose;
  shapes_[slot] = shape_number(job.request);
  if (!waits) return;
  enqueue(slot, now);
  note_waiter(job);
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

std::span<const GpuId> State::gpus_of(const JobState& job) const {
  // While a state is restored, its running jobs come one by one.
  const bool runs = job.phase == JobPhase::Running && job.running_slot < running_.size();
  return runs ? running_[job.running_slot].allocation.gpus : std::span<const GpuId>{};
}

std::span<const GpuId> State::last_gpus(Slot slot) const {
  const auto found = last_gpus_.find(slot);
  return found == last_gpus_.end() ? std::span<const GpuId>{} : found->second;
}

TimeNs State::duration_ns(const JobState& job, double slowdown, TimeNs now) const {
  const auto* promise = job.request.reservation.valid()
                            ? resources_.promised().find(job.request.reservation)
                            : nullptr;
  if (job.request.reservation.valid() && (promise == nullptr || !promise->is_part())) {
    const TimeNs left =
        promise == nullptr ? base::kNever : std::max<TimeNs>(promise->end_ns - now, 0);
    const TimeNs limit = job.request.walltime_limit_ns;
    return limit > 0 ? std::min(left, limit - job.attained_ns(now)) : left;
  }
  if (job.request.walltime_limit_ns > 0) {
    return job.request.walltime_limit_ns - job.attained_ns(now);
  }
  if (job.elastic && job.training.steps > 0) {
    return elastic_.duration_ns(job, gpus_of(job), slowdown, now);
  }
  if (policies_of(job).uses_forecasts) {
    return job.forecast.known() ? std::max<TimeNs>(job.forecast.p90_ns - job.attained_ns(now), 0)
                                : base::kNever;
  }
  if (oracle_ == nullptr) return base::kNever;
  return base::from_seconds_up(oracle_->launch_cost_s(job.job) +
                               oracle_->work_left_s(job.job, now) * slowdown);
}

double State::lowest_slowdown(const JobState& job) const {
  // A job with more GPUs than a node spans nodes wherever it is placed.
  const knowledge::LocalityPenalties& penalties = *speed_.penalties;
  const model::Cluster& cluster = *speed_.cluster;
  const size_t across = cluster.node_level() + 1;
  const bool spans = static_cast<int64_t>(job.request.num_gpus) > cluster.node_gpus_max();
  double penalty = penalties.at(spans && across < penalties.num_levels() ? across : 0, job.request);
  for (size_t level = across + 1; spans && level < penalties.num_levels(); ++level) {
    penalty = std::min(penalty, penalties.at(level, job.request));
  }
  return fastest_ * penalty;
}

bool State::scales(const JobState& job) const {
  return oracle_ != nullptr && !job.elastic && !policies_->uses_forecasts &&
         job.request.walltime_limit_ns == 0 && !job.request.reservation.valid() &&
         oracle_->launch_cost_s(job.job) == 0 && !speed_.penalties->has_model(job.request.model);
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

bool State::keeps_head_promise(ReservationId whose) const {
  return !whose.valid() || (policies_->of_part && policies_->part == whose);
}

void State::set_head_promise(HeadPromise promise, ReservationId whose) {
  (whose.valid() ? part_promise_ : head_promise_) = promise;
}

const HeadPromise& State::head_promise(ReservationId whose) const {
  static const HeadPromise nobody;
  if (!keeps_head_promise(whose)) return nobody;
  return whose.valid() ? part_promise_ : head_promise_;
}

}  // namespace goban::core::scheduler
