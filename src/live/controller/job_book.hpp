// What the live scheduler knows of every job that is not over, and of those that ended lately.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/action.hpp"
#include "live/controller/reservation.hpp"
#include "live/engine.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

enum class JobStage : uint8_t {
  Held,      ///< until somebody releases it
  Depends,   ///< on other jobs
  Waiting,   ///< in the core's queue
  Starting,  ///< it has GPUs; the engine has not said yet that it runs
  Running,
  Stopping,  ///< told to stop; what becomes of it then follows from StopReason
  Done,
};

enum class JobResult : uint8_t {
  None,  ///< not over
  Completed,
  Failed,
  Cancelled,
  TimedOut,
  OutOfMemory,
  NodeFailed,
  NeverRuns,  ///< what it depends on did not end as it must
};

/// A run that is over: what the accounting needs of it.
struct PastRun {
  uint32_t run = 0;
  TimeNs start_ns = -1;  ///< -1 = it never ran
  TimeNs end_ns = 0;
  std::vector<GpuId> gpus{};
  RunUsage usage{};
  std::vector<RankTimes> ranks{};  ///< what it said of its ranks
  RunPace pace{};                  ///< of its steps and epochs
  bool shared = false;             ///< others held some of its GPUs at some time
};

/// A job in the book. Times are of the scheduler's clock, in ns since 1970; -1 = not yet.
struct LiveJob {
  JobId job{};
  job::JobSpec spec{};
  ReservationId reservation{};  ///< that it runs in; invalid: in none
  JobStage stage = JobStage::Waiting;
  JobResult result = JobResult::None;
  TimeNs submit_ns = 0;
  TimeNs first_start_ns = -1;
  TimeNs run_start_ns = -1;  ///< of the current or last run
  TimeNs end_ns = -1;
  TimeNs held_ns = 0;                  ///< time it held GPUs in runs that are over
  uint32_t runs = 0;                   ///< launches so far
  std::vector<GpuId> gpus{};           ///< of the current or last run
  bool shares = false;                 ///< others hold some of them, too
  core::model::PlacementReason why{};  ///< of the current or last run
  int32_t exit_code = -1;
  int32_t signal = 0;
  uint32_t preemptions = 0;
  uint32_t breakages = 0;  ///< runs lost to nodes, supervisors or neighbours
  ProgressReport progress{};
  TimeNs progress_ns = -1;
  RunUsage usage{};             ///< of all runs that are over
  std::vector<PastRun> past{};  ///< in order of their ends
  std::string detail{};         ///< of its end, for a person
  bool accounted = false;
};

/// A launch that is not over: the book's view of what the engine runs.
struct LiveRun {
  enum class Stage : uint8_t {
    Pending,  ///< waits until those who leave its GPUs are gone; the engine knows nothing of it
    Ordered,  ///< the engine was told, and has not answered
    Running,
    Stopping,  ///< told to stop
  };
  RunId run{};
  Stage stage = Stage::Pending;
  StopReason stop = StopReason::Preempted;  ///< Stopping
  std::vector<GpuId> gpus{};
  TimeNs ordered_ns = 0;
  TimeNs started_ns = -1;  ///< -1 = the engine has not said that it runs
  bool shared = false;     ///< others hold some of its GPUs, or held them
};

/// Jobs by number, runs by job (an older run of a job may still be leaving), reservations.
struct JobBook {
  std::map<JobId, LiveJob> jobs{};
  std::map<RunId, LiveRun> runs{};
  uint32_t next_job = 0;
  /// Those that are not over, and some that ended lately.
  std::map<ReservationId, LiveReservation> reservations{};
  uint32_t next_reservation = 0;

  [[nodiscard]] const LiveJob* find(JobId job) const {
    const auto found = jobs.find(job);
    return found == jobs.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const LiveReservation* find(ReservationId reservation) const {
    const auto found = reservations.find(reservation);
    return found == reservations.end() ? nullptr : &found->second;
  }
};

/// The reservation of this name; invalid: there is none that is open.
[[nodiscard]] inline ReservationId open_reservation(const JobBook& book, std::string_view name) {
  const auto id = parse_reservation_name(name);
  const LiveReservation* found = id ? book.find(*id) : nullptr;
  return found != nullptr && found->is_open() ? *id : ReservationId{};
}

}  // namespace goban::live::controller
