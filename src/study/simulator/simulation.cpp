#include "study/simulator/simulation.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/check.hpp"
#include "base/counted.hpp"
#include "core/scheduler/core_image.hpp"
#include "study/simulator/simulation_run.hpp"

namespace goban::study::simulator {

using base::Result;
using base::Status;
using core::model::Action;
using core::model::Event;
using core::model::EventKind;

namespace {

/// A run ends with an error after this many launches without work...
constexpr int64_t kLaunchesWithoutWork = 10'000;
/// ...if they span this many restart costs: a launch may have to pay one before it works.
constexpr double kRestartsWithoutWork = 100;

}  // namespace

Result<SimulationResult> Simulation::run() {
  unfinished_ = history_.jobs.size();
  if (options_.contention) {
    if (options_.settings.credit_per_round) {
      return base::usage_error(
          "--contention changes speeds within a round, but an artifact preset credits work per "
          "round",
          "omit --contention, or choose policies other than artifact presets");
    }
    auto contention = LinkContention::make(*speed_.cluster, *options_.contention);
    if (!contention) return base::failure(contention.error());
    contention_ = std::move(*contention);
  }
  if (options_.stages && !history_.staging.empty()) {
    auto staging = SimStaging::make(history_, options_.tiers);
    if (!staging) return base::failure(staging.error());
    staging_ = std::move(*staging);
  }
  if (round_ns_ > 0) decide_at_ns_ = 0;
  if (!options_.settings.credit_per_round && round_ns_ > 0 && unfinished_ > 0) {
    decide_at_ns_ = history_.jobs.front().request.submit_ns / round_ns_ * round_ns_;
  }
  while (unfinished_ > 0) {
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      return base::failed("interrupted");
    }
    if (next_arrival_ == jobs_.size()) {
      if (auto status = prepare_arrival(); !status) return base::failure(status.error());
    }
    const TimeNs event_ns = next_event_ns();
    const TimeNs now = std::min({event_ns, decide_at_ns_, wake_at_ns_});
    if (now == base::kNever) return base::failure(stuck_error());
    if (event_ns == now) {
      if (auto status = apply_events(now); !status) return base::failure(status.error());
      if (unfinished_ == 0) break;
      decide_at_ns_ = std::min(decide_at_ns_, round_up(now));
    }
    if (wake_at_ns_ == now) {
      wake_at_ns_ = base::kNever;
      decide_at_ns_ = std::min(decide_at_ns_, round_up(now));
    }
    if (decide_at_ns_ == now) decide(now);
    if (auto status = check_progress(now); !status) return base::failure(status.error());
  }
  result_.end_ns = last_finish_ns_;
  result_.undone = core_->num_undone();
  result_.breakages = core_->take_broken();
  result_.overhead_gpu_s = jobs_.overhead_gpu_s();
  if (staging_) result_.staging = staging_->figures();
  result_.promises = promises_.figures();
  for (const auto& running : core_->state().running()) {
    count_busy(core_->state().job(running.slot).job, last_finish_ns_);
  }
  if (options_.observer != nullptr) options_.observer->ended(result_.end_ns);
  result_.outcomes = jobs_.take_outcomes();
  result_.shared = jobs_.take_shared();
  result_.elastic = jobs_.take_elastic();
  return std::move(result_);
}

TimeNs Simulation::round_up(TimeNs time) const {
  if (round_ns_ == 0) return time;
  return (time + round_ns_ - 1) / round_ns_ * round_ns_;
}

TimeNs Simulation::next_event_ns() {
  while (!endings_.empty() && jobs_.version(endings_.top().job) != endings_.top().version) {
    endings_.pop();
  }
  TimeNs next = endings_.empty() ? base::kNever : endings_.top().at_ns;
  if (!replies_.empty()) next = std::min(next, replies_.top().at_ns);
  if (staging_) next = std::min(next, staging_->next_ns());
  if (next_incident_ < options_.incidents.size()) {
    next = std::min(next, options_.incidents[next_incident_].at_ns);
  }
  if (next_arrival_ < jobs_.size()) {
    next = std::min(next, jobs_.job(JobId(next_arrival_)).request.submit_ns);
  }
  if (next_switch_ < options_.switches.size()) {
    next = std::min(next, options_.switches[next_switch_].at_ns);
  }
  return next;
}

void Simulation::switch_policies(TimeNs now) {
  const PolicySwitch* due = nullptr;
  for (; next_switch_ < options_.switches.size() && options_.switches[next_switch_].at_ns <= now;
       ++next_switch_) {
    due = &options_.switches[next_switch_];
  }
  if (due == nullptr || due->policy->name == core_->policies().name) return;
  const core::scheduler::CoreImage image = core_->image();
  core_ = made_core(*due->policy);
  const Status restored = core_->restore(image);
  GOBAN_CHECK(restored.has_value(), "a core refuses the image of another policy");
}

Status Simulation::prepare_arrival() {
  if (!options_.fillers) return {};
  auto filler = options_.fillers(next_arrival_ - history_.jobs.size());
  if (!filler) return base::failure(filler.error());
  jobs_.add_filler(std::move(*filler));
  return {};
}

Status Simulation::apply_events(TimeNs now) {
  switch_policies(now);
  end_jobs(now);
  apply_replies(now);
  for (; next_incident_ < options_.incidents.size() &&
         options_.incidents[next_incident_].at_ns <= now;
       ++next_incident_) {
    const Event& incident = options_.incidents[next_incident_];
    if (incident.kind == EventKind::JobKilled) {
      const bool is_known = core_->state().is_active(incident.job);
      // A job that waits for its data is known to nobody else.
      const bool waits = staging_ && staging_->waits(incident.job);
      if (is_known || waits) end_job(incident.job, now, JobEnd::Cancelled);
      continue;
    }
    for (const Action& action : core_->apply(incident)) execute(action, now);
    if (incident.kind == EventKind::NodeRestored) count_awake(incident.node, now);
  }
  follow_neighbours(now);
  return submit_jobs(now);
}

void Simulation::apply_replies(TimeNs now) {
  for (; !replies_.empty() && replies_.top().at_ns <= now; replies_.pop()) {
    const Reply reply = replies_.top();
    if (reply.node.valid()) {
      // It may have failed while waking.
      const bool waking = core_->state().node_power().is_waking(reply.node);
      if (!waking || num_woken_[reply.node] != reply.asked) continue;
      core_->apply({.kind = EventKind::NodeAwake, .at_ns = now, .node = reply.node});
      count_awake(reply.node, now);
      continue;
    }
    const bool runs = core_->state().is_active(reply.job) &&
                      core_->state().job(core_->state().slot_of(reply.job)).phase ==
                          core::model::JobPhase::Running;
    if (!runs || asked_[reply.job] != reply.asked) continue;
    core_->apply({.kind = EventKind::RateObserved,
                  .at_ns = now,
                  .job = reply.job,
                  .slowdown = truth_->by_neighbours(*core_->tenants(), reply.job)});
  }
}

void Simulation::count_awake(core::model::NodeId node, TimeNs now) {
  const core::scheduler::NodePower& nodes = core_->state().node_power();
  if (nodes.is_resting(node) || nodes.is_waking(node)) return;
  if (asleep_from_ns_.erase(node) == 0) return;
  if (options_.observer != nullptr) options_.observer->awake(now, node);
}

void Simulation::end_jobs(TimeNs now) {
  while (!endings_.empty() && endings_.top().at_ns <= now) {
    const Ending ending = endings_.top();
    endings_.pop();
    if (jobs_.version(ending.job) != ending.version) continue;
    end_job(ending.job, now, ending.killed != 0 ? JobEnd::TimedOut : JobEnd::Finished);
  }
}

void Simulation::end_job(JobId id, TimeNs now, JobEnd end) {
  const bool runs = jobs_.running(id);
  if (runs) count_busy(id, now);
  const bool ran = jobs_.outcome(id).start_ns >= 0;
  jobs_.finish(id, now, end);
  const bool is_unknown = staging_ && staging_->ended(id, now, ran);
  if (contention_ && runs) change_speeds(contention_->stop(id), id, now);
  if (!is_unknown) {
    core_->apply({.kind = end == JobEnd::Finished ? EventKind::JobFinished : EventKind::JobKilled,
                  .at_ns = now,
                  .job = id});
  }
  if (forecasts_ && end != JobEnd::Cancelled) {
    forecasts_->ended(id, base::to_seconds(jobs_.outcome(id).held_ns));
  }
  if (options_.observer != nullptr) options_.observer->job_ended(now, id, end);
  if (id.index() >= history_.jobs.size()) return;
  --unfinished_;
  last_finish_ns_ = now;
  if (options_.finished_count != nullptr) {
    options_.finished_count->fetch_add(1, std::memory_order_relaxed);
  }
}

void Simulation::tell_submitted(JobId id, TimeNs now) {
  const core::model::JobRequest& request = jobs_.job(id).request;
  Event event{.kind = EventKind::JobSubmitted, .at_ns = now, .job = id, .request = &request};
  event.training = jobs_.training(id);
  if (forecasts_) event.forecast = forecasts_->submitted(id, request);
  if (request.array.valid()) event.array = history_.arrays[request.array.index()];
  core_->apply(event);
}

Status Simulation::submit_jobs(TimeNs now) {
  if (staging_) {
    for (const JobId id : staging_->take_ready(now)) tell_submitted(id, now);
  }
  for (;; ++next_arrival_) {
    if (next_arrival_ == jobs_.size()) {
      if (auto status = prepare_arrival(); !status) return status;
      if (next_arrival_ == jobs_.size()) return {};
    }
    const JobId id(next_arrival_);
    if (jobs_.job(id).request.submit_ns > now) return {};
    if (!staging_ || staging_->submitted(id, now)) tell_submitted(id, now);
  }
}

void Simulation::decide(TimeNs now) {
  const core::scheduler::Decision& decision = core_->decide(now);
  ++result_.decisions;
  for (const Action& action : decision.actions) execute(action, now);
  promises_.look(core_->state());
  follow_neighbours(now);
  if (options_.observer != nullptr) options_.observer->decided(decision, *core_);
  schedule_decision(now);
}

void Simulation::schedule_decision(TimeNs now) {
  decide_at_ns_ = base::kNever;
  if (round_ns_ > 0 && !core_->settled()) decide_at_ns_ = now + round_ns_;
  const TimeNs wake = core_->wake_ns();
  wake_at_ns_ = wake == base::kNever ? wake : std::max(wake, now + 1);
}

base::Error Simulation::stuck_error() const {
  std::string first;
  for (size_t i = 0; i < history_.jobs.size() && first.empty(); ++i) {
    const JobOutcome& outcome = jobs_.outcome(JobId(i));
    if (outcome.end == JobEnd::Pending) first = history_.job_names[i];
  }
  return {base::ErrorCode::BadData,
          fmt::format("{} can never start under {}; the first is job {}",
                      base::counted(unfinished_, "job"), core_->policies().name, first),
          {},
          "check for nodes that failed permanently and for jobs that fit no node"};
}

Status Simulation::check_progress(TimeNs now) {
  if (result_.starts - starts_checked_ < kLaunchesWithoutWork) return {};
  starts_checked_ = result_.starts;
  const auto works = [&](const auto& running) {
    return jobs_.works(core_->state().job(running.slot).job, now);
  };
  if (jobs_.take_worked() || std::ranges::any_of(core_->state().running(), works)) {
    worked_ns_ = now;
    starts_then_ = result_.starts;
    return {};
  }
  const double restart_s = options_.settings.restart_cost_s;
  if (base::to_seconds(now - worked_ns_) < kRestartsWithoutWork * restart_s) return {};
  return base::failure(
      {base::ErrorCode::BadData,
       fmt::format("no job worked between {:.0f} s and {:.0f} s, although jobs were launched {} "
                   "times under {}: each was stopped before its restart cost of {} s was spent",
                   base::to_seconds(worked_ns_), base::to_seconds(now),
                   result_.starts - starts_then_, core_->policies().name, restart_s),
       {},
       "give a smaller --restart-cost or a longer --round, or check the incidents"});
}

Result<SimulationResult> simulate(const core::model::JobHistory& history,
                                  const core::policy::SpeedModel& speed,
                                  const core::policy::Composition& composition,
                                  const SimulationOptions& options) {
  const Status known = core::policy::check_knowledge(
      composition, options.knowledge != nullptr,
      "choose a policy that does not; goban policies lists sharing and power "
      "of each");
  if (!known) return base::failure(known.error());
  return Simulation(history, speed, composition, options).run();
}

}  // namespace goban::study::simulator
