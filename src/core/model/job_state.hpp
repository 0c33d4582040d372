// The state of a job in the core. Orders and selections read it.
#pragma once

#include <cstdint>

#include "core/model/job.hpp"

namespace goban::core::model {

enum class JobPhase : uint8_t { Held, Waiting, Running };

/// An unfinished job. The core does not keep finished jobs.
struct JobState {
  JobRequest request;
  TrainingFacts training{};
  RunForecast forecast{};
  JobId job;
  uint32_t arrival = 0;           ///< 0, 1, ... in order of submission; breaks every tie
  TimeNs attained_before_ns = 0;  ///< time it held its resources in earlier runs
  TimeNs run_start_ns = 0;        ///< of the current run; Running only
  TimeNs waiting_since_ns = 0;    ///< Waiting only
  TimeNs predicted_end_ns = 0;    ///< Running only, if the selection needs it
  uint32_t running_slot = 0;      ///< Running only
  uint32_t starts = 0;            ///< number of launches
  uint32_t association = 0;       ///< (user, account) pair; dense, in order of appearance
  JobPhase phase = JobPhase::Waiting;
  bool promoted = false;  ///< it exceeded the starvation bound and precedes all others from then on
  /// Its speed by GPU model and number of GPUs is known; `request.num_gpus` is its present size.
  bool elastic = false;
  bool withheld = false;           ///< Waiting: the policy of sizes lets it wait
  uint32_t gpu_model = kAnyModel;  ///< elastic: that its GPUs are of, or will be
  double steps_done = 0;           ///< elastic: in earlier runs, as its speed predicts

  static constexpr uint32_t kAnyModel = UINT32_MAX;

  /// Total time for which it has held its resources.
  [[nodiscard]] TimeNs attained_ns(TimeNs now) const {
    return attained_before_ns + (phase == JobPhase::Running ? now - run_start_ns : 0);
  }
};

/// Progress reports of running jobs. Simulations and the live scheduler have them.
class ReportedProgress {
 public:
  virtual ~ReportedProgress() = default;
  /// Remaining seconds of the job alone at PM score 1 and locality penalty 1, from its declared and
  /// reported epochs; negative if it declares or reports none.
  [[nodiscard]] virtual double reported_left_s(JobId job, TimeNs now) const = 0;
  /// The same for the whole job, without restarts.
  [[nodiscard]] virtual double reported_total_s(JobId job) const = 0;
  /// Steps that the job still has to do, as it reports; negative if it does not.
  [[nodiscard]] virtual double reported_steps_left(JobId job, TimeNs now) const {
    (void)job, (void)now;
    return -1;
  }
};

/// True work; available in simulations only. Policies that read it are marked simulation-only.
class WorkOracle {
 public:
  virtual ~WorkOracle() = default;
  /// Seconds of the whole job at PM score 1 and locality penalty 1.
  [[nodiscard]] virtual double total_work_s(JobId job) const = 0;
  /// The same for the work remaining at `now`, plus the restart cost still to be paid.
  [[nodiscard]] virtual double work_left_s(JobId job, TimeNs now) const = 0;
  /// Restart cost that a launch of this job would pay, in seconds.
  [[nodiscard]] virtual double launch_cost_s(JobId job) const = 0;
};

}  // namespace goban::core::model
