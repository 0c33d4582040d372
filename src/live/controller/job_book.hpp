// The job table of the live scheduler: all unfinished jobs, those that finished recently, their
// runs, and reservations.
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
  Held,      ///< not eligible until it is released
  Depends,   ///< waits for other jobs
  Waiting,   ///< in the core's queue
  Starting,  ///< it has GPUs; the engine has not reported its start yet
  Running,
  Stopping,  ///< ordered to stop; what follows depends on StopReason
  Done,
};

enum class JobResult : uint8_t {
  None,  ///< unfinished
  Completed,
  Failed,
  Cancelled,
  TimedOut,
  OutOfMemory,
  NodeFailed,
  NeverRuns,  ///< a dependency can no longer be met
};

/// An ended run, as needed for accounting.
struct PastRun {
  uint32_t run = 0;
  TimeNs start_ns = -1;  ///< -1 = it never ran
  TimeNs end_ns = 0;
  std::vector<GpuId> gpus{};
  RunUsage usage{};
  std::vector<RankTimes> ranks{};  ///< per-rank times that it reported
  RunPace pace{};                  ///< of its steps and epochs
  bool shared = false;             ///< other jobs held some of its GPUs at some time
};

/// A job in the table. Times are on the scheduler's clock, in ns since 1970; -1 = not yet.
struct LiveJob {
  JobId job{};
  job::JobSpec spec{};
  ReservationId reservation{};  ///< in which it runs; invalid: none
  JobStage stage = JobStage::Waiting;
  JobResult result = JobResult::None;
  TimeNs submit_ns = 0;
  TimeNs first_start_ns = -1;
  TimeNs run_start_ns = -1;  ///< of the current or last run
  TimeNs end_ns = -1;
  TimeNs held_ns = 0;                  ///< time it held GPUs in ended runs
  uint32_t runs = 0;                   ///< launches so far
  std::vector<GpuId> gpus{};           ///< of the current or last run
  bool shares = false;                 ///< other jobs hold some of them
  core::model::PlacementReason why{};  ///< of the current or last run
  int32_t exit_code = -1;
  int32_t signal = 0;
  uint32_t preemptions = 0;
  uint32_t breakages = 0;  ///< runs lost through nodes, supervisors or neighbours
  ProgressReport progress{};
  TimeNs progress_ns = -1;
  RunUsage usage{};             ///< sum over all ended runs
  std::vector<PastRun> past{};  ///< in order of their end times
  std::string detail{};         ///< reason of its end, for users
  bool accounted = false;
};

/// A launch that has not ended: the controller's view of a run of the engine.
struct LiveRun {
  enum class Stage : uint8_t {
    Pending,  ///< waits until the runs that leave its GPUs have ended; not ordered yet
    Ordered,  ///< ordered from the engine, which has not answered
    Running,
    Stopping,  ///< ordered to stop
  };
  RunId run{};
  Stage stage = Stage::Pending;
  StopReason stop = StopReason::Preempted;  ///< Stopping
  std::vector<GpuId> gpus{};
  TimeNs ordered_ns = 0;
  TimeNs started_ns = -1;  ///< -1 = the engine has not reported its start
  bool shared = false;     ///< other jobs hold some of its GPUs, or held them
};

/// Jobs, runs (an older run of a job may still be stopping) and reservations by id.
struct JobBook {
  std::map<JobId, LiveJob> jobs{};
  std::map<RunId, LiveRun> runs{};
  uint32_t next_job = 0;
  /// Open ones, and those that ended recently.
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

/// The open reservation of this name; invalid if there is none.
[[nodiscard]] inline ReservationId open_reservation(const JobBook& book, std::string_view name) {
  const auto id = parse_reservation_name(name);
  const LiveReservation* found = id ? book.find(*id) : nullptr;
  return found != nullptr && found->is_open() ? *id : ReservationId{};
}

}  // namespace goban::live::controller
