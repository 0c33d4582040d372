// A run of the simulated engine: what has happened, and what will.
#pragma once

#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "study/simulator/colocation_truth.hpp"
#include "study/simulator/run_forecasts.hpp"
#include "study/simulator/sim_jobs.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

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

/// Replays a history through a core, event by event.
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

  base::Result<SimulationResult> run();

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
  [[nodiscard]] base::Status apply_events(TimeNs now);
  void end_jobs(TimeNs now);
  void end_job(JobId id, TimeNs now, JobEnd end);
  [[nodiscard]] base::Status submit_jobs(TimeNs now);
  void tell_submitted(JobId id, TimeNs now);
  [[nodiscard]] base::Status prepare_arrival();
  void decide(TimeNs now);
  void schedule_decision(TimeNs now);
  [[nodiscard]] TimeNs round_up(TimeNs time) const;
  void execute(const core::model::Action& action, TimeNs now);
  void launch(JobId id, TimeNs now, bool same_gpus);
  /// A preempted job stops, and loses work if preemption does that; an undone one saves it.
  void stop(const core::model::Action& action, TimeNs now);
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
  [[nodiscard]] base::Status check_progress(TimeNs now);

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
  PromiseBooks promises_;
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

}  // namespace goban::study::simulator
