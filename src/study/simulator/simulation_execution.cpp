// A run of the simulated engine: actions are carried out, and jobs run as fast as they do.
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "study/simulator/simulation_run.hpp"

namespace goban::study::simulator {

using core::model::Action;
using core::model::ActionKind;

void Simulation::execute(const Action& action, TimeNs now) {
  if (options_.observer != nullptr) options_.observer->acted(now, action, *core_);
  switch (action.kind) {
    case ActionKind::Start:
      launch(action.job, now, action.same_gpus);
      return;
    case ActionKind::Preempt:
      count_busy(action.job, now);
      stop(action, now);
      if (action.move) jobs_.count_moved(action.job);
      if (contention_) change_speeds(contention_->stop(action.job), action.job, now);
      return;
    case ActionKind::Abandon: {
      count_busy(action.job, now);
      const double lost_s = jobs_.abandon(action.job, now, options_.checkpoint_interval_s, true);
      result_.lost_gpu_s += lost_s * jobs_.gpus_of(action.job);
      if (contention_) change_speeds(contention_->stop(action.job), action.job, now);
      return;
    }
    case ActionKind::Observe:
      observe(action.job, now, action.until_ns);
      return;
    case ActionKind::Cap:
      return;  // the core's state holds it
    case ActionKind::Rest:
      asleep_from_ns_[action.node] = now + base::from_seconds(power_of(action.node).sleep.enter_s);
      return;
    case ActionKind::Wake:
      wake(action.node, now);
      return;
  }
}

void Simulation::stop(const Action& action, TimeNs now) {
  if (!options_.preemption_loses_work || action.undo || action.move || action.resize) {
    jobs_.stop(action.job, now, action.undo);
    return;
  }
  const double lost_s = jobs_.abandon(action.job, now, options_.checkpoint_interval_s, false);
  result_.lost_gpu_s += lost_s * jobs_.gpus_of(action.job);
}

const core::knowledge::PowerModel& Simulation::power_of(core::model::NodeId node) const {
  return options_.knowledge->power[speed_.cluster->node(node).gpu_model];
}

void Simulation::wake(core::model::NodeId node, TimeNs now) {
  // A node that is still falling asleep first has to complete that.
  const TimeNs from = std::max(now, asleep_from_ns_[node]);
  replies_.push({.at_ns = from + base::from_seconds(power_of(node).sleep.wake_s),
                 .job = {},
                 .asked = ++num_woken_[node],
                 .node = node});
  ++result_.wakes;
}

void Simulation::observe(JobId id, TimeNs now, TimeNs until) {
  const core::model::Job& job = jobs_.job(id);
  const core::model::TrainingFacts* facts = jobs_.training(id);
  TimeNs at = until;
  if (facts != nullptr && facts->epochs > 0) {
    const double epoch_s = job.work_s / facts->epochs * slowdown_alone(id) * slowdown_by_others(id);
    at = std::min(until, base::add_saturating(now, base::from_seconds_up(epoch_s)));
  }
  if (at == base::kNever) return;
  replies_.push({.at_ns = at, .job = id, .asked = ++asked_[id], .node = {}});
}

double Simulation::slowdown_by_others(JobId id) const {
  const double links = contention_ ? contention_->slowdown(id) : 1;
  return truth_ ? links * truth_->slowdown(*core_->tenants(), id) : links;
}

const core::model::SpeedLevel* Simulation::level_of(JobId id) const {
  const core::scheduler::State& state = core_->state();
  const core::model::JobState& job = state.job(state.slot_of(id));
  if (!job.elastic) return nullptr;
  const core::model::SpeedLevel* level = options_.speeds->find(
      job.request.model, job.training.batch_size, job.gpu_model, job.request.num_gpus);
  GOBAN_CHECK(level != nullptr, "an elastic job runs at an unknown speed");
  return level;
}

double Simulation::slowdown_alone(JobId id) const {
  const core::scheduler::State& state = core_->state();
  const core::model::JobState& job = state.job(state.slot_of(id));
  const double slowdown = speed_.slowdown(job.request, core_->allocation(id).gpus);
  const core::model::SpeedLevel* level = level_of(id);
  const double work_s = level == nullptr ? 0 : jobs_.total_work_s(id);
  if (work_s <= 0 || job.training.steps <= 0) return slowdown;
  return slowdown * (static_cast<double>(job.training.steps) / work_s) / level->steps_per_s;
}

void Simulation::launch(JobId id, TimeNs now, bool same_gpus) {
  const core::model::Allocation& allocation = core_->allocation(id);
  std::span<const JobId> affected;
  if (contention_) affected = contention_->start(id, allocation.gpus);
  const core::model::SpeedLevel* level = level_of(id);
  ElasticLaunch elastic;
  if (level != nullptr) elastic = {.gpus = level->gpus, .interpolated = level->interpolated};
  if (allocation.reason.prediction != 0) jobs_.count_shared(id);
  schedule_ending(id, now,
                  jobs_.launch(id, now, slowdown_alone(id), slowdown_by_others(id), same_gpus,
                               level == nullptr ? nullptr : &elastic));
  ++result_.starts;
  promises_.started(id, now);
  change_speeds(affected, id, now);
}

void Simulation::change_speeds(std::span<const JobId> affected, JobId but, TimeNs now) {
  for (const JobId id : affected) {
    if (id == but) continue;
    const double slowdown = slowdown_by_others(id);
    if (slowdown == jobs_.contention(id)) continue;
    schedule_ending(id, now, jobs_.change_contention(id, now, slowdown));
  }
}

void Simulation::follow_neighbours(TimeNs now) {
  if (!truth_) return;
  std::vector<JobId> disturbed = core_->take_disturbed();
  std::erase_if(disturbed, [&](JobId id) { return !jobs_.running(id); });
  change_speeds(disturbed, JobId{}, now);
}

void Simulation::schedule_ending(JobId id, TimeNs now, double left_s) {
  const core::model::JobRequest& request = jobs_.job(id).request;
  TimeNs end = base::kNever;
  TimeNs kill = base::kNever;
  const TimeNs held = jobs_.outcome(id).held_ns + (now - jobs_.run_start_ns(id));
  const TimeNs limit_left = request.walltime_limit_ns - held;
  if (options_.settings.credit_per_round) {
    const auto rounds = [&](double seconds) {
      const double count = std::max(1.0, std::ceil(seconds / options_.settings.round_s));
      return base::add_saturating(
          now, count > 1e9 ? base::kNever : static_cast<TimeNs>(count) * round_ns_);
    };
    end = rounds(left_s);
    if (request.walltime_limit_ns > 0) kill = rounds(base::to_seconds(limit_left));
  } else {
    // What is left of a job in several pieces is inexact; an error must not add a nanosecond.
    end = base::add_saturating(now, base::from_seconds_up(left_s - jobs_.inexact_s(id)));
    if (request.walltime_limit_ns > 0) kill = base::add_saturating(now, limit_left);
  }
  endings_.push({.at_ns = std::min(end, kill),
                 .job = id,
                 .version = jobs_.version(id) & 0x7fffffffU,
                 .killed = kill < end ? 1U : 0U});
}

void Simulation::count_busy(JobId id, TimeNs now) {
  result_.busy_gpu_s += base::to_seconds(now - jobs_.run_start_ns(id)) * jobs_.gpus_of(id);
}

}  // namespace goban::study::simulator
