// The job table of the live scheduler: all unfinished jobs, those that finished recently, their
// runs, and reservations.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/event.hpp"
#include "core/staging/fast_tier.hpp"
#include "live/controller/live_pilot.hpp"
#include "live/controller/reservation.hpp"
#include "live/engine.hpp"
#include "live/job/job_spec.hpp"
#include "live/job/predicted_run.hpp"

namespace goban::live::controller {

enum class JobStage : uint8_t {
  Held,      ///< not eligible until it is released
  Depends,   ///< waits for other jobs, or for its earliest start
  Waiting,   ///< in the core's queue
  Starting,  ///< it has GPUs; the engine has not reported its start yet
  Running,
  Stopping,  ///< ordered to stop; what follows depends on StopReason
  Done,
  Suspended,  ///< an operator stopped its processes; it keeps its GPUs
};
inline constexpr size_t kNumJobStages = 8;

[[nodiscard]] inline bool holds_gpus(JobStage stage) {
  return (stage >= JobStage::Starting && stage <= JobStage::Stopping) ||
         stage == JobStage::Suspended;
}

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
  TimeNs suspended_ns = 0;         ///< part of end - start in which it was suspended
};

/// The suspensions of a run.
struct Suspensions {
  uint32_t count = 0;
  TimeNs since_ns = -1;  ///< of the present one; -1 = it is not suspended
  TimeNs ended_ns = 0;   ///< duration of those that ended

  [[nodiscard]] bool is_suspended() const { return since_ns >= 0; }
  [[nodiscard]] TimeNs total_ns(TimeNs at) const {
    return ended_ns + (is_suspended() ? std::max<TimeNs>(at - since_ns, 0) : 0);
  }
  void begin(TimeNs at) {
    if (is_suspended()) return;
    ++count;
    since_ns = at;
  }
  void end(TimeNs at) {
    ended_ns = total_ns(at);
    since_ns = -1;
  }
  friend bool operator==(const Suspensions&, const Suspensions&) = default;
};

/// The data of a job: on its way to the fast tier, there, or on its way back.
struct JobStaging {
  enum class Stage : uint8_t {
    None,       ///< not begun, or nothing to copy
    Measuring,  ///< how much it is
    NeedsRoom,  ///< waits until the fast tier has room
    Copying,
    Ready,  ///< on the fast tier, and kept there until the job ends
    Out,    ///< copied back; the job has ended
    OutDone,
  };
  Stage stage = Stage::None;
  bool is_ordered = false;  ///< Measuring, Copying, Ready, Out: an order was not answered yet
  bool keeps = false;       ///< the fast tier keeps `items` for the job
  bool has_folder = false;  ///< its own folder on the fast tier may exist
  std::vector<std::string> sources{};            ///< JobSpec::stage_in of `items`
  std::vector<core::staging::DataItem> items{};  ///< by path on the fast tier
  int64_t done_bytes = 0;
  int64_t all_bytes = 0;
  int64_t copied_bytes = 0;  ///< copied in; the rest was found on the fast tier
  TimeNs begun_ns = -1;      ///< staging in
  TimeNs ready_ns = -1;
  uint32_t seen_run = 0;  ///< the run before whose launch it was seen to be there; 0 = none
  TimeNs out_done_ns = -1;
  bool gave_up = false;   ///< OutDone: the results were not copied, or not all of them
  uint32_t failures = 0;  ///< in a row
  TimeNs retry_ns = -1;   ///< after a failure; -1: none is due
  std::string problem{};  ///< the last failure, for users
  std::string sha256{};   ///< of what was copied in
  std::string out_sha256{};

  /// Data is on its way to the fast tier.
  [[nodiscard]] bool is_staging_in() const {
    return stage == Stage::Measuring || stage == Stage::NeedsRoom || stage == Stage::Copying;
  }
  friend bool operator==(const JobStaging&, const JobStaging&) = default;
};

/// A job in the table. Times are on the scheduler's clock, in ns since 1970; -1 = not yet.
struct LiveJob {
  JobId job{};
  job::JobSpec spec{};
  job::PredictedRun predicted{};  ///< at its submission
  /// In total, by what it reported to have done; unknown: as predicted.
  core::model::RunForecast expected{};
  ReservationId reservation{};  ///< in which it runs; invalid: none
  JobStage stage = JobStage::Waiting;
  JobResult result = JobResult::None;
  TimeNs submit_ns = 0;
  TimeNs first_start_ns = -1;
  TimeNs run_start_ns = -1;   ///< of the current or last run
  Suspensions suspensions{};  ///< of the current run, as in its LiveRun
  TimeNs end_ns = -1;
  TimeNs held_ns = 0;                  ///< time it held GPUs in ended runs, without suspensions
  uint32_t runs = 0;                   ///< launches so far
  uint32_t unable = 0;                 ///< of these, launches that the machine could not make
  std::vector<GpuId> gpus{};           ///< of the current or last run
  bool shares = false;                 ///< other jobs hold some of them
  core::model::PlacementReason why{};  ///< of the current or last run
  int32_t exit_code = -1;
  int32_t signal = 0;
  uint32_t preemptions = 0;
  uint32_t resizes = 0;    ///< of these, those after which it went on with another number of GPUs
  uint32_t breakages = 0;  ///< runs lost through nodes, supervisors or neighbours
  ProgressReport progress{};
  TimeNs progress_ns = -1;
  RunUsage usage{};             ///< sum over all ended runs
  std::vector<PastRun> past{};  ///< in order of their end times
  std::string detail{};         ///< reason of its end, for users
  bool accounted = false;
  bool delayed = false;  ///< once held, throttled or blocked: it waited not for the policy alone
  // Jobs of the engine's own queue.
  std::string engine_id{};  ///< its number there; empty: it was submitted here
  std::string array_id{};   ///< JobSeen::array
  bool managed = true;      ///< Goban starts and stops it; otherwise it only holds what it holds
  bool withdrawn = false;   ///< cancelled here; the engine was told to end it
  bool is_gone = false;     ///< at the engine: `engine_id` may mean another job by now
  std::string blocked{};    ///< why it is not eligible there; empty: it is
  std::string misfit{};     ///< why the present cluster cannot run it; empty: it can
  /// What it holds as somebody else started it: the core has not placed it, and does not know it.
  std::vector<NodePart> found{};
  JobStaging staging{};
};

/// The job has ended, and its results are where they belong.
[[nodiscard]] inline bool is_settled(const LiveJob& job) {
  return job.stage == JobStage::Done && job.staging.stage != JobStaging::Stage::Out;
}

/// The engine has to end a finished job, too, as it did not end there by itself.
[[nodiscard]] inline bool ends_there(const LiveJob& job) {
  if (job.engine_id.empty() || job.is_gone || !job.managed) return false;
  return job.result == JobResult::Cancelled || job.result == JobResult::TimedOut ||
         job.result == JobResult::NodeFailed || job.result == JobResult::NeverRuns;
}

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
  StopUrgency urgency = StopUrgency::Ask;   ///< Stopping
  std::vector<GpuId> gpus{};
  TimeNs ordered_ns = 0;
  TimeNs started_ns = -1;  ///< -1 = the engine has not reported its start
  bool shared = false;     ///< other jobs hold some of its GPUs, or held them
  bool found = false;      ///< it runs where the engine put it: LiveJob::found
  Suspensions suspensions{};
};

/// Jobs, runs (an older run of a job may still be stopping) and reservations by id.
struct JobBook {
  std::map<JobId, LiveJob> jobs{};
  std::map<RunId, LiveRun> runs{};
  uint32_t next_job = 0;
  /// Open ones, and those that ended recently.
  std::map<ReservationId, LiveReservation> reservations{};
  uint32_t next_reservation = 0;
  std::optional<LivePilot> pilot{};  ///< the present one, or the last one
  /// Jobs by their number at the engine until they are gone there, and the first known task of each
  /// array. Derived from `jobs`.
  std::map<std::string, JobId, std::less<>> by_engine_id{};
  std::map<std::string, JobId, std::less<>> arrays_of_engine{};

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
