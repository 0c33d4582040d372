// What the core remembers of a job between events; orders and selections read it.
#pragma once

#include <cstdint>

#include "core/model/job.hpp"

namespace goban::core::model {

enum class JobPhase : uint8_t { Held, Waiting, Running };

/// An active job. Finished jobs are forgotten by the core.
struct JobState {
  JobRequest request;
  TrainingFacts training{};
  JobId job;
  uint32_t arrival = 0;           ///< 0, 1, ... in order of submission; breaks every tie
  TimeNs attained_before_ns = 0;  ///< time it held its resources in earlier runs
  TimeNs run_start_ns = 0;        ///< of the current run; Running only
  TimeNs waiting_since_ns = 0;    ///< Waiting only
  TimeNs predicted_end_ns = 0;    ///< Running only, if the selection asks for it
  uint32_t running_slot = 0;      ///< Running only
  uint32_t starts = 0;            ///< how often it was launched
  uint32_t association = 0;       ///< its user in its account; dense, in order of appearance
  JobPhase phase = JobPhase::Waiting;
  bool promoted = false;  ///< it starved once and now goes before all others

  /// Time it has held its resources so far.
  [[nodiscard]] TimeNs attained_ns(TimeNs now) const {
    return attained_before_ns + (phase == JobPhase::Running ? now - run_start_ns : 0);
  }
};

/// What jobs say of their progress while they run. A live scheduler has it, too.
class ReportedProgress {
 public:
  virtual ~ReportedProgress() = default;
  /// Seconds that the rest of the job takes alone at PM score 1 and locality penalty 1, from its
  /// declared epochs and those it has reported; negative if it declares or reports none.
  [[nodiscard]] virtual double reported_left_s(JobId job, TimeNs now) const = 0;
  /// The same of the whole job, without restarts.
  [[nodiscard]] virtual double reported_total_s(JobId job) const = 0;
};

/// True work, known to a simulation only. Policies that read it are marked simulation-only.
class WorkOracle {
 public:
  virtual ~WorkOracle() = default;
  /// Seconds at PM score 1 and locality penalty 1 that the whole job takes.
  [[nodiscard]] virtual double total_work_s(JobId job) const = 0;
  /// The same of what is left at `now`, and the seconds of restart cost still to be paid.
  [[nodiscard]] virtual double work_left_s(JobId job, TimeNs now) const = 0;
  /// Restart cost that a launch of this job would pay, in seconds.
  [[nodiscard]] virtual double launch_cost_s(JobId job) const = 0;
};

}  // namespace goban::core::model
