// The state of the core: how long a job would hold its resources, and what was promised from that.
#include <algorithm>

#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

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

void State::expect(Slot slot, const model::RunForecast& forecast, TimeNs now) {
  JobState& job = jobs_[slot];
  // A waiting job has its place in the queue from what was expected before.
  if (job.phase != JobPhase::Running || job.forecast == forecast) return;
  job.forecast = forecast;
  const bool rests_on_it = estimates_ && policies_of(job).uses_forecasts && !job.elastic &&
                           job.request.walltime_limit_ns == 0 && !job.request.reservation.valid();
  if (!rests_on_it) return;
  ends_.erase({job.predicted_end_ns, slot});
  job.predicted_end_ns = base::add_saturating(now, duration_ns(job, 1.0, now));
  ends_.emplace(job.predicted_end_ns, slot);
}

TimeNs State::next_late_ns(TimeNs now) const {
  const auto of = [&](const policy::PolicySet& policies, ReservationId whose) {
    const HeadPromise& promise = head_promise(whose);
    const bool waits = promise.job.valid() && is_active(promise.job) &&
                       job(slot_of(promise.job)).phase == JobPhase::Waiting;
    if (policies.late_bound_ns == 0 || !policy::evicts(policies.preemption) || !waits) {
      return base::kNever;
    }
    const TimeNs due = base::add_saturating(promise.at_ns, policies.late_bound_ns);
    return due > now ? due : base::kNever;
  };
  const TimeNs first = of(*policies_, {});
  return policies_->of_part ? std::min(first, of(*policies_->of_part, policies_->part)) : first;
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
