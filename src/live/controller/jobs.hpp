// The life cycle of jobs: from submission through the core's queue and runs to the end. Carries out
// the core's actions.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "live/controller/decision_core.hpp"
#include "live/controller/dependencies.hpp"
#include "live/controller/forecasts.hpp"
#include "live/controller/observation.hpp"
#include "live/controller/power_limits.hpp"
#include "live/controller/runs.hpp"
#include "live/controller/staging.hpp"

namespace goban::live::controller {

/// Number of runs lost through no fault of the job after which it is not requeued.
inline constexpr uint32_t kBreakagesMax = 5;

class Jobs {
 public:
  struct Parts {
    JobBook& book;
    DecisionCore& core;
    PowerLimits& limits;
    Observation& observation;
    Forecasts& forecasts;
    Runs& runs;
    Staging& staging;
    std::vector<Order>& orders;
  };
  /// The parts outlive this.
  explicit Jobs(const Parts& parts) : parts_(parts) {}

  // Requests. Unknown and finished jobs are ignored.
  void submit(const Submit& submit, TimeNs at);
  void cancel(const Cancel& cancel, TimeNs at);
  void hold(JobId id, TimeNs at);
  void release(JobId id, TimeNs at);
  void requeue(JobId id, TimeNs at);
  void alter(const Alter& alter, TimeNs at);
  /// Suspends a running job, or lets it go on.
  void suspend(JobId id, bool suspended, TimeNs at);

  /// Applies an event to the core and carries out the actions that it forces.
  void tell_core(const core::model::Event& event);
  void carry_out(const DecisionCore::Actions& actions, TimeNs at);
  /// Restarts the observation of jobs whose neighbours or power limits changed.
  void restart_disturbed(TimeNs at);
  /// Launches pending runs whose GPUs have been left by stopping runs.
  void launch_pending(TimeNs at);
  /// Lets jobs whose earliest start has come be eligible.
  void begin_due(TimeNs at);
  /// When begin_due() is due; kNever = not at all.
  [[nodiscard]] TimeNs next_begin_ns() const {
    return begins_.empty() ? base::kNever : begins_.begin()->first;
  }
  /// Stops jobs that have reached their walltime limit.
  void stop_at_limits(TimeNs at);
  /// Reports the observed slowdown of a running job to the core, if it is watched and known.
  void report_speed(JobId id, TimeNs at);

  // Steps shared with engine reports and reservations.
  /// The job counts for its owner's limit and its name, or no longer does.
  void count(const LiveJob& job);
  void discount(const LiveJob& job);
  /// Learns from the job when it ends.
  void predicted(const LiveJob& job) { parts_.forecasts.submitted(job); }
  /// Decides where a job that has no run and is not in the core stands: it waits for something, is
  /// held, or is eligible.
  void consider(LiveJob& job, TimeNs at);
  /// Adds the job to the core's queue if its data is ready; otherwise it waits for it.
  void admit(LiveJob& job, TimeNs at);
  /// What copies mean for jobs.
  void follow_staging(const Staging::Outcome& outcome, TimeNs at);
  /// Adds the job to the core's queue.
  void enter_core(LiveJob& job, TimeNs at);
  /// Stops the current run.
  void stop(LiveJob& job, StopReason reason, TimeNs at);
  /// Ends the job in any stage: at once with `result`, or when its run has stopped.
  void withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at);
  void finish(LiveJob& job, JobResult result, TimeNs at);
  /// Re-evaluates the jobs that depend on this one.
  void settle_dependents(JobId id, TimeNs at);
  /// Updates the job's stage and suspensions from its runs.
  void refresh(LiveJob& job) const;
  [[nodiscard]] static bool may_try_again(const LiveJob& job) {
    return job.spec.requeue && job.breakages < kBreakagesMax;
  }

  /// Removes accounted jobs that ended at least `keep_ns` ago.
  void forget_old(TimeNs at, TimeNs keep_ns);
  /// Rebuilds the indexes from the job table, after a snapshot was read.
  void index_book();
  /// Number of unfinished jobs by their owner.
  [[nodiscard]] const std::map<job::OwnerKey, size_t>& unfinished() const { return unfinished_; }

 private:
  void give_up_results(const Cancel& cancel, TimeNs at);
  /// Null if the job is unknown or finished.
  [[nodiscard]] LiveJob* find_unfinished(JobId id);
  /// The engine's names of the job no longer mean it.
  void forget_names(const LiveJob& job);
  /// Sets the limit of the tasks of an array that run at once.
  void alter_array(JobId first, int32_t limit, TimeNs at);

  Parts parts_;
  std::map<job::OwnerKey, size_t> unfinished_;
  Dependents dependents_;
  NamedJobs named_;
  std::set<std::pair<TimeNs, JobId>> begins_;  ///< jobs that wait for their earliest start
  std::vector<std::vector<JobId>>
      to_settle_;  ///< stack of dependents to evaluate, each list descending
};

}  // namespace goban::live::controller
