// A job as it was submitted, what is known of its run, and its state in the core.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::model {

using base::TimeNs;

/// A job as the core sees it at submission. True work is not part of it.
struct JobRequest {
  TimeNs submit_ns = 0;
  TimeNs walltime_limit_ns = 0;  ///< counts from the start of the run; 0 = no limit
  int32_t num_gpus = 0;          ///< of all instances; 0 = CPU only
  int32_t priority = 0;          ///< larger runs first in the order `priority`
  bool stays = false;            ///< once started, it is not preempted
  int32_t instances = 1;  ///< number of equal parts, each on one node, if it has a resource type
  ModelId model;
  UserId user;
  AccountId account;
  PartitionId partition;
  QosId qos;
  ArrayId array;                 ///< invalid: not part of an array
  ResourceTypeId resource_type;  ///< invalid: GPUs only
  AppClass app_class;
  AppId app;                  ///< in the co-location history; invalid: not in it
  ReservationId reservation;  ///< the job runs on its nodes only; invalid: on no reserved node
  friend bool operator==(const JobRequest&, const JobRequest&) = default;
};

/// A recorded or generated job: the request, and the work it turned out to need.
struct Job {
  JobRequest request;
  /// Seconds of execution at PM score 1 and locality penalty 1.
  double work_s = 0;
};

/// Predicted total run time of a job, made at its submission; 0 = unknown.
struct RunForecast {
  TimeNs p10_ns = 0;  ///< shorter in one of ten cases
  TimeNs p50_ns = 0;
  TimeNs p90_ns = 0;
  [[nodiscard]] bool known() const { return p50_ns > 0; }
  friend bool operator==(const RunForecast&, const RunForecast&) = default;
};

/// A job array: at most `max_running` of its tasks hold resources at once; 0 = no limit.
struct JobArray {
  int32_t max_running = 0;
};

/// How a recorded job ended.
enum class RecordedEnd : uint8_t { Unknown, Completed, Failed, Cancelled, TimedOut, NodeFailed };

/// Recorded times of a job at its site: the reference of a back-test.
struct Recorded {
  TimeNs start_ns = -1;   ///< first start, on the clock of the submit times; -1 = unknown
  TimeNs finish_ns = -1;  ///< on the same clock; -1 = unknown: start + work
  RecordedEnd end = RecordedEnd::Unknown;
};

/// Whether a job may have neighbours on its GPUs, as declared.
enum class SharingRequest : uint8_t { Unsaid, No, Yes };

/// Service targets and resource use of a training job, from its submission or a job profile.
struct TrainingFacts {
  TimeNs deadline_ns = -1;    ///< relative to the submission; -1 = no deadline
  int64_t gpu_mem_bytes = 0;  ///< peak per GPU; 0 = unknown
  float gpu_util_pct = -1;    ///< per GPU, without neighbours; negative = unknown
  int32_t epochs = 0;         ///< in total; 0 = unknown
  int32_t batch_size = 0;     ///< 0 = unknown
  float max_slowdown = 0;     ///< maximum JCT / duration alone; 0 = none
  TimeNs max_wait_ns = -1;    ///< maximum time without resources; -1 = none
  SharingRequest sharing = SharingRequest::Unsaid;  ///< Unsaid: as set for its partition
  int32_t gpus_min = 0;                             ///< elastic: the fewest GPUs that it runs on
  int32_t gpus_max = 0;                             ///< elastic: the most; 0 = not elastic
  int64_t steps = 0;                                ///< of the whole job; 0 = unknown
  TimeNs resize_cost_ns = -1;  ///< of a start on another number of GPUs; -1 = as of a restart
  friend bool operator==(const TrainingFacts&, const TrainingFacts&) = default;
};

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
