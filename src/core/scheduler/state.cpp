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

std::span<const GpuId> State::gpus_of(const JobState& job) const {
  // While a state is restored, its running jobs come one by one.
  const bool runs = job.phase == JobPhase::Running && job.running_slot < running_.size();
  return runs ? running_[job.running_slot].allocation.gpus : std::span<const GpuId>{};
}

std::span<const GpuId> State::last_gpus(Slot slot) const {
  const auto found = last_gpus_.find(slot);
  return found == last_gpus_.end() ? std::span<const GpuId>{} : found->second;
}

}  // namespace goban::core::scheduler
