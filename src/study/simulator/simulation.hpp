// The simulated engine: replays a job history through the decision core, event by event.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "core/policy/compose.hpp"
#include "core/scheduler/core.hpp"
#include "study/simulator/contention.hpp"
#include "study/simulator/promise_books.hpp"
#include "study/simulator/sim_staging.hpp"

namespace goban::study::simulator {

using base::TimeNs;
using core::model::JobId;

enum class JobEnd : uint8_t {
  Pending,  ///< the run ended before the job did
  Finished,
  TimedOut,   ///< killed at its walltime limit
  Cancelled,  ///< by an incident, before or during its run
};

/// The outcome of one job.
struct JobOutcome {
  TimeNs start_ns = -1;  ///< first start
  TimeNs finish_ns = -1;
  TimeNs held_ns = 0;  ///< time it held resources, over all runs
  int32_t preemptions = 0;
  JobEnd end = JobEnd::Pending;
};

/// What happened to a job because of its neighbours.
struct SharedOutcome {
  int32_t undone = 0;  ///< preemptions because a shared placement was undone
  int32_t moved = 0;   ///< preemptions after which it continued at once elsewhere
  int32_t shared = 0;  ///< starts on GPUs that other jobs held
};

/// What happened to an elastic job: one whose speed by number of GPUs is known.
struct ElasticOutcome {
  int32_t resizes = 0;   ///< starts on another number of GPUs than the run before
  int32_t gpus_min = 0;  ///< over its runs; 0: it is not elastic
  int32_t gpus_max = 0;
  double held_gpu_s = 0;
  bool interpolated = false;  ///< it ran at a speed that was not measured
};

/// Observes a run, for logs and figures. Rounds between two decisions changed nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  /// After a decision was carried out.
  virtual void decided(const core::scheduler::Decision& decision,
                       const core::scheduler::Core& core) {
    (void)decision, (void)core;
  }
  /// An action is carried out, either decided or forced by an event.
  virtual void acted(TimeNs now, const core::model::Action& action,
                     const core::scheduler::Core& core) {
    (void)now, (void)action, (void)core;
  }
  /// A sleeping node can run jobs again: it was woken, or it failed and was restored.
  virtual void awake(TimeNs now, core::model::NodeId node) { (void)now, (void)node; }
  virtual void job_ended(TimeNs now, JobId job, JobEnd end) { (void)now, (void)job, (void)end; }
  /// The run ended at `now`, before any decision at that time.
  virtual void ended(TimeNs now) { (void)now; }
};

/// Returns job `index` after the end of the history (PAL: simulated time, docs/papers.md).
using FillerSource = std::function<base::Result<core::model::Job>(size_t index)>;

/// From this time on another policy decides; jobs keep what they hold. It shares GPUs, moves jobs
/// and lets nodes sleep like the one before it.
struct PolicySwitch {
  TimeNs at_ns = 0;
  const core::policy::Composition* policy = nullptr;
};

struct SimulationOptions {
  core::policy::RunSettings settings;
  /// Interval of checkpoints during a run; progress up to the last one survives a node failure.
  double checkpoint_interval_s = 1800;
  /// A preempted job falls back to its last checkpoint, too; otherwise it saves its progress first.
  bool preemption_loses_work = false;
  /// Run times are predicted even if the policy does not use that: observers do.
  bool forecasts = false;
  uint64_t seed = 1;
  /// Jobs that span racks slow each other down; none: no contention between racks.
  std::optional<ContentionSettings> contention;
  /// Where jobs with JobHistory::staging get their data from; unused without such jobs.
  core::model::StorageTiers tiers{};
  bool stages = true;  ///< otherwise jobs start without their data, whatever the history says
  /// In time order: NodeLost, NodeClosed, NodeRestored, NodeDrained; JobFound and FoundOver;
  /// JobBroke, which is ignored unless the job runs then; JobKilled, by which a user cancels a job.
  std::span<const core::model::Event> incidents;
  /// Slowdowns of co-located jobs, and power of nodes; null: unknown. Required by policies that
  /// share GPUs, let nodes sleep or limit power.
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge;
  /// True slowdowns of co-located jobs, if different from those of the knowledge; with its
  /// applications and GPU types.
  std::shared_ptr<const core::knowledge::ColocationHistory> true_colocation;
  /// Relative deviation of true slowdowns by neighbours from those that the knowledge predicts.
  double prediction_noise = 0;
  /// In time order. What the policies need beyond the first one's is set: `forecasts`.
  std::span<const PolicySwitch> switches{};
  /// Steps per second of elastic jobs; null: no job is elastic. Their work is that of their steps
  /// on the GPUs that they request, on the fastest model.
  std::shared_ptr<const core::model::JobSpeeds> speeds;
  FillerSource fillers;  ///< empty: none
  Observer* observer = nullptr;
  /// Wraps the placement policy; it must not change the policy's result.
  std::function<std::unique_ptr<core::policy::Placement>(std::unique_ptr<core::policy::Placement>)>
      watch_placement;
  /// Replaces parts of the policy, and what the core knows of run times, before the run.
  std::function<void(core::policy::PolicySet&, core::policy::RunContext&)> adapt_policy;
  std::atomic<int64_t>* finished_count = nullptr;  ///< updated during the run, for a progress bar
  const std::atomic<bool>* cancel = nullptr;
};

/// The totals of a run; times in engine nanoseconds.
struct SimulationResult {
  std::vector<JobOutcome> outcomes;       ///< by JobId, counted jobs only
  std::vector<SharedOutcome> shared;      ///< by JobId; empty if all are zero
  std::vector<ElasticOutcome> elastic{};  ///< by JobId; empty if no job is elastic
  double busy_gpu_s = 0;  ///< GPU-seconds held between first submit and last finish, with fillers
  double lost_gpu_s = 0;  ///< GPU-seconds of work lost to node failures and preemptions
  int64_t decisions = 0;
  int64_t starts = 0;
  int64_t undone = 0;                              ///< shared placements that were undone
  int64_t wakes = 0;                               ///< wakes of sleeping nodes
  std::vector<core::model::Breakage> breakages{};  ///< job failures on shared GPUs, with fillers
  double overhead_gpu_s = 0;  ///< GPU-seconds held while restarting: the restart costs
  std::optional<StagingFigures> staging{};  ///< if the history has staged data
  PromiseFigures promises{};
  TimeNs end_ns = 0;

  [[nodiscard]] SharedOutcome shared_of(size_t job) const {
    return job < shared.size() ? shared[job] : SharedOutcome{};
  }
  [[nodiscard]] ElasticOutcome elastic_of(size_t job) const {
    return job < elastic.size() ? elastic[job] : ElasticOutcome{};
  }
  /// GPU-seconds that the job held; `gpus`: that it requested.
  [[nodiscard]] double held_gpu_s(size_t job, int32_t gpus) const {
    const ElasticOutcome sized = elastic_of(job);
    return sized.gpus_min > 0 ? sized.held_gpu_s : base::to_seconds(outcomes[job].held_ns) * gpus;
  }
};

/// Runs the history to the end of its last job.
/// Errors: BadData if jobs remain that can never start, or the fillers run out; Failed if
/// cancelled; Usage if the policy requires knowledge that is missing, or if contention is requested
/// and the cluster has no racks, or work is credited per round.
[[nodiscard]] base::Result<SimulationResult> simulate(const core::model::JobHistory& history,
                                                      const core::policy::SpeedModel& speed,
                                                      const core::policy::Composition& composition,
                                                      const SimulationOptions& options);

}  // namespace goban::study::simulator
