#include "core/scheduler/explain.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

namespace {

/// Time at which enough GPUs will be free for a job, by number only.
TimeNs earliest_ns(const State& state, const JobState& job, TimeNs now) {
  const ReservationId whose = job.request.reservation;
  int32_t free = state.resources().free_gpus(whose, now);
  for (const auto& [end, slot] : state.ends()) {
    if (free >= job.request.num_gpus) break;
    if (end == base::kNever) return base::kNever;
    free += state.gpus_within(slot, whose, now);
    if (free >= job.request.num_gpus) return std::max(end, now);
  }
  return base::kNever;
}

/// Sets the first reservation of the nodes that the job would get.
void name_promise(const State& state, const Allocation& allocation, HoldSpan hold,
                  WaitReason& why) {
  const auto look = [&](NodeId node) {
    const auto* promise = state.resources().promised().overlapping(node, hold);
    if (promise == nullptr || promise->start_ns >= why.reservation_ns) return;
    why.reservation = promise->reservation;
    why.reservation_ns = promise->start_ns;
  };
  for (const GpuId gpu : allocation.gpus) look(state.speed().cluster->node_of(gpu));
  for (const NodeId node : allocation.hosts) look(node);
}

/// Why the job cannot be placed although enough GPUs are free; NotWaiting if it can.
WaitCause why_not_placed(const State& state, const JobState& job, TimeNs now, uint64_t seed,
                         WaitReason& why) {
  Resources resources = state.resources();  // the search changes its copy
  const TimeNs limit = job.request.walltime_limit_ns;
  HoldSpan hold{now,
                limit > 0 ? base::add_saturating(now, limit - job.attained_ns(now)) : base::kNever};
  if (state.elastic().has_one_model(job)) hold.gpu_model = job.gpu_model;
  Allocation out;
  if (resources.find(job.request, hold, seed, out)) return WaitCause::NotWaiting;
  if (!job.request.reservation.valid() && !resources.promised().empty()) {
    resources.promised() = PromisedNodes(resources.rooms().size());
    if (resources.find(job.request, hold, seed, out)) {
      name_promise(state, out, hold, why);
      return WaitCause::Promised;
    }
  }
  if (resources.has_windows() &&
      resources.find(job.request, {now, now, {}, hold.gpu_model}, seed, out)) {
    return WaitCause::Window;
  }
  return job.request.resource_type.valid() ? WaitCause::HostResources : WaitCause::Fragments;
}

}  // namespace

WaitReason why_waiting(const Core& core, JobId id, TimeNs now, uint64_t seed) {
  WaitReason why;
  const State& state = core.state();
  if (!state.is_active(id)) return why;
  const JobState& job = state.job(state.slot_of(id));
  why.free_gpus = state.resources().free_gpus(job.request.reservation, now);
  if (job.phase == JobPhase::Running) return why;
  if (job.phase == JobPhase::Held) {
    why.cause = WaitCause::ArrayLimit;
    return why;
  }
  const WaitQueue& queue = state.queue(job.request.reservation);
  const auto* entry = queue.find(state.queue_key(state.slot_of(id)));
  if (entry == nullptr) {
    why.cause = WaitCause::AccountLimit;
    return why;
  }
  if (job.withheld) {
    why.cause = WaitCause::Sized;
    return why;
  }
  const auto* promise = state.resources().promised().find(job.request.reservation);
  if (promise != nullptr && now < promise->start_ns) {
    why.cause = WaitCause::NotBegun;
    why.reservation = promise->reservation;
    why.reservation_ns = promise->start_ns;
    return why;
  }
  const HeadPromise& head_promise = state.head_promise(job.request.reservation);
  const bool is_promised = head_promise.job.valid() && state.is_active(head_promise.job) &&
                           state.job(state.slot_of(head_promise.job)).phase == JobPhase::Waiting;
  const auto* first = queue.first();
  if (is_promised) {
    why.is_behind = head_promise.job != id;
    if (why.is_behind) {
      why.head = head_promise.job;
      why.head_start_ns = head_promise.at_ns;
    }
  } else if (first != entry) {
    const JobState& head = state.job(first->slot);
    why.is_behind = true;
    why.head = head.job;
    why.head_start_ns = earliest_ns(state, head, now);
  }
  const bool enough_but_promised =
      job.request.num_gpus <= state.resources().free_gpus() && !job.request.reservation.valid();
  if (job.request.num_gpus > why.free_gpus && !enough_but_promised) {
    why.cause = WaitCause::NoFreeGpus;
    return why;
  }
  why.cause = why_not_placed(state, job, now, seed, why);
  if (why.cause != WaitCause::NotWaiting) return why;
  const bool estimates = state.policies_of(job).needs_estimates;
  why.cause = estimates ? WaitCause::Reservation : WaitCause::Order;
  return why;
}

std::vector<JobId> waiting_before(const Core& core, JobId id, size_t most, size_t& count) {
  std::vector<JobId> before;
  count = 0;
  const State& state = core.state();
  if (!state.is_active(id)) return before;
  const JobState& job = state.job(state.slot_of(id));
  if (job.phase != JobPhase::Waiting) return before;
  const policy::OrderKey key = state.queue_key(state.slot_of(id));
  const WaitQueue& queue = state.queue(job.request.reservation);
  for (const auto* entry = queue.first(); entry != nullptr && entry->key < key;
       entry = queue.after(entry->key)) {
    if (before.size() < most) before.push_back(state.job(entry->slot).job);
    ++count;
  }
  return before;
}

}  // namespace goban::core::scheduler
