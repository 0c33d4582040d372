#include "study/simulator/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <unordered_map>

#include "base/check.hpp"
#include "base/counted.hpp"
#include "core/scheduler/core_image.hpp"
#include "study/simulator/colocation_truth.hpp"
#include "study/simulator/run_forecasts.hpp"
#include "study/simulator/sim_jobs.hpp"

namespace goban::study::simulator {

using base::Result;
using base::Status;
using core::model::Action;
using core::model::ActionKind;
using core::model::Event;
using core::model::EventKind;

namespace {

/// When a job will end unless it stops or starts before.
struct Ending {
  TimeNs at_ns;
  JobId job;
  uint32_t version : 31;
  uint32_t killed : 1;
};

/// The answer to a request of the core: an observed slowdown, or a node that is awake.
struct Reply {
  TimeNs at_ns;
  JobId job;       ///< invalid: the reply is about a node
  uint32_t asked;  ///< number of the request; a later one for the same job or node invalidates it
  core::model::NodeId node;
};

struct LaterReplyFirst {
  bool operator()(const Reply& a, const Reply& b) const {
    return std::tie(a.at_ns, a.job, a.node) > std::tie(b.at_ns, b.job, b.node);
  }
};

struct LaterFirst {
  bool operator()(const Ending& a, const Ending& b) const {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.job > b.job;
  }
};

class Simulation {
 public:
  Simulation(const core::model::JobHistory& history, const core::policy::SpeedModel& speed,
             const core::policy::Composition& composition, const SimulationOptions& options)
      : history_(history),
        speed_(speed),
        options_(options),
        round_ns_(base::from_seconds(options.settings.round_s)),
        jobs_(history, options.settings.restart_cost_s),
        context_{.oracle = &jobs_,
                 .progress = &jobs_,
                 .knowledge = options.knowledge,
                 .round_s = options.settings.round_s,
                 .restart_cost_s = options.settings.restart_cost_s,
                 .checkpoint_s = options.preemption_loses_work ? options.checkpoint_interval_s : 0,
                 .speeds = options.speeds,
                 .resize_cost_s = options.settings.restart_cost_s},
        core_(made_core(composition)) {
    if (core_->policies().uses_forecasts || options.forecasts) forecasts_.emplace(history);
    if (options.knowledge != nullptr) {
      const bool differs = options.true_colocation != nullptr;
      truth_.emplace(*options.knowledge,
                     differs ? *options.true_colocation : options.knowledge->colocation,
                     options.prediction_noise, options.seed);
    }
  }

  Result<SimulationResult> run();

 private:
  [[nodiscard]] core::policy::PolicySet watched(core::policy::PolicySet policies) {
    if (options_.adapt_policy) options_.adapt_policy(policies, context_);
    if (options_.watch_placement) {
      policies.placement = options_.watch_placement(std::move(policies.placement));
    }
    return policies;
  }
  [[nodiscard]] std::unique_ptr<core::scheduler::Core> made_core(
      const core::policy::Composition& composition) {
    return std::make_unique<core::scheduler::Core>(speed_, watched(composition.make(context_)),
                                                   context_, options_.seed);
  }
  /// Continues under the policies that are due.
  void switch_policies(TimeNs now);
  [[nodiscard]] TimeNs next_event_ns();
  [[nodiscard]] Status apply_events(TimeNs now);
  void end_jobs(TimeNs now);
  void end_job(JobId id, TimeNs now, JobEnd end);
  [[nodiscard]] Status submit_jobs(TimeNs now);
  void tell_submitted(JobId id, TimeNs now);
  [[nodiscard]] Status prepare_arrival();
  void decide(TimeNs now);
  void schedule_decision(TimeNs now);
  [[nodiscard]] TimeNs round_up(TimeNs time) const;
  void execute(const Action& action, TimeNs now);
  void launch(JobId id, TimeNs now, bool same_gpus);
  /// A preempted job stops, and loses work if preemption does that; an undone one saves it.
  void stop(const Action& action, TimeNs now);
  /// Schedules the end of the job: its work is done, or its walltime limit is reached.
  void schedule_ending(JobId id, TimeNs now, double left_s);
  /// Slowdown of a running job by other jobs: on links between racks and on its GPUs.
  [[nodiscard]] double slowdown_by_others(JobId id) const;
  /// Updates the speeds of these jobs, except `but`.
  void change_speeds(std::span<const JobId> affected, JobId but, TimeNs now);
  /// Updates the speeds of jobs whose neighbours on their GPUs changed.
  void follow_neighbours(TimeNs now);
  /// Slowdown of a running job without others, relative to its work.
  [[nodiscard]] double slowdown_alone(JobId id) const;
  /// The level that an elastic job runs at; null: it is not elastic.
  [[nodiscard]] const core::model::SpeedLevel* level_of(JobId id) const;
  void observe(JobId id, TimeNs now, TimeNs until);
  void wake(core::model::NodeId node, TimeNs now);
  [[nodiscard]] const core::knowledge::PowerModel& power_of(core::model::NodeId node) const;
  void apply_replies(TimeNs now);
  /// The node is no longer asleep: it was woken, or it failed and was restored.
  void count_awake(core::model::NodeId node, TimeNs now);
  void count_busy(JobId id, TimeNs now);
  [[nodiscard]] base::Error stuck_error() const;
  /// Errors: BadData if jobs are launched over and over and none of them works.
  [[nodiscard]] Status check_progress(TimeNs now);

  const core::model::JobHistory& history_;
  const core::policy::SpeedModel& speed_;
  const SimulationOptions& options_;
  TimeNs round_ns_;
  SimJobs jobs_;
  core::policy::RunContext context_;
  std::unique_ptr<core::scheduler::Core> core_;
  std::optional<ColocationTruth> truth_;
  std::optional<RunForecasts> forecasts_;  ///< if the policy uses them
  std::priority_queue<Reply, std::vector<Reply>, LaterReplyFirst> replies_;
  std::unordered_map<JobId, uint32_t> asked_;                       ///< number of the last request
  std::unordered_map<core::model::NodeId, TimeNs> asleep_from_ns_;  ///< of sleeping nodes
  std::unordered_map<core::model::NodeId, uint32_t> num_woken_;     ///< number of the last wake
  std::optional<LinkContention> contention_;
  std::optional<SimStaging> staging_;
  std::priority_queue<Ending, std::vector<Ending>, LaterFirst> endings_;
  SimulationResult result_;
  size_t next_arrival_ = 0;  ///< JobId of the next arrival
  size_t next_incident_ = 0;
  size_t next_switch_ = 0;
  size_t unfinished_ = 0;  ///< counted jobs
  TimeNs decide_at_ns_ = base::kNever;
  TimeNs wake_at_ns_ = base::kNever;
  TimeNs last_finish_ns_ = 0;
  TimeNs worked_ns_ = 0;        ///< when a job was last seen to work
  int64_t starts_then_ = 0;     ///< launches up to worked_ns_
  int64_t starts_checked_ = 0;  ///< launches up to the last check
};

/// A run ends with an error after this many launches without work...
constexpr int64_t kLaunchesWithoutWork = 10'000;
/// ...if they span this many restart costs: a launch may have to pay one before it works.
constexpr double kRestartsWithoutWork = 100;

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

}  // namespace

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
