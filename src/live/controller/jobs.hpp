// The life of a job: from its submission through the core's queue and its runs to its end. Carries
// out what the core decides.
#pragma once

#include <map>
#include <vector>

#include "live/controller/decision_core.hpp"
#include "live/controller/dependencies.hpp"
#include "live/controller/observation.hpp"
#include "live/controller/power_limits.hpp"
#include "live/controller/runs.hpp"

namespace goban::live::controller {

/// A job whose runs were lost so often through no fault of its own is not started again.
inline constexpr uint32_t kBreakagesMax = 5;

class Jobs {
 public:
  struct Parts {
    JobBook& book;
    DecisionCore& core;
    PowerLimits& limits;
    Observation& observation;
    Runs& runs;
    std::vector<Order>& orders;
  };
  /// The parts outlive this.
  explicit Jobs(const Parts& parts) : parts_(parts) {}

  // What people ask for. Jobs that are unknown or over are passed over.
  void submit(const Submit& submit, TimeNs at);
  void cancel(const Cancel& cancel, TimeNs at);
  void hold(JobId id, TimeNs at);
  void release(JobId id, TimeNs at);
  void requeue(JobId id, TimeNs at);

  /// The core hears of an event; what it decides at once is carried out.
  void tell_core(const core::model::Event& event);
  void carry_out(const DecisionCore::Actions& actions, TimeNs at);
  /// Jobs that have other neighbours or power limits now are observed from here on.
  void restart_disturbed(TimeNs at);
  /// Launches what waits for its GPUs, where they are free of those who leave.
  void launch_pending(TimeNs at);
  /// Stops jobs that have used up their walltime.
  void stop_at_limits(TimeNs at);
  /// Tells the core how fast a running job goes, if it asked and enough is known.
  void report_speed(JobId id, TimeNs at);

  // Steps that reports and reservations have in common with the above.
  /// The job waits in the core's queue from now on.
  void enter_core(LiveJob& job, TimeNs at);
  /// Stops the current run.
  void stop(LiveJob& job, StopReason reason);
  /// The job ends wherever it stands: at once with `result`, or when its run has stopped.
  void withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at);
  void finish(LiveJob& job, JobResult result, TimeNs at);
  /// Jobs that depend on this one may go, or never will.
  void settle_dependents(JobId id, TimeNs at);
  /// The job's stage follows from its runs.
  void refresh(LiveJob& job) const;
  [[nodiscard]] static bool may_try_again(const LiveJob& job) {
    return job.spec.requeue && job.breakages < kBreakagesMax;
  }

  /// Removes jobs from the book that ended so long ago and are accounted.
  void forget_old(TimeNs at, TimeNs keep_ns);
  /// Makes the indexes anew from the book, after a snapshot was read.
  void index_book();
  /// Jobs that are not over, by the user id of their owner.
  [[nodiscard]] const std::map<uint32_t, size_t>& unfinished() const { return unfinished_; }

 private:
  /// Null if the job is unknown or over.
  [[nodiscard]] LiveJob* find_unfinished(JobId id);
  void settle_dependencies(LiveJob& job, TimeNs at);

  Parts parts_;
  std::map<uint32_t, size_t> unfinished_;
  Dependents dependents_;
  std::vector<std::vector<JobId>> to_settle_;  ///< dependents to be looked at, descending; a stack
};

}  // namespace goban::live::controller
