// Events and actions: the only input and the only output of the core. Events carry their time; the
// core has no clock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/found.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

enum class EventKind : uint8_t {
  JobSubmitted,
  JobFinished,  ///< the job ended by itself
  JobKilled,    ///< the engine ended it at its walltime limit, or a user cancelled it
  NodeLost,     ///< the node failed: its jobs are lost, its GPUs are out of service
  NodeClosed,   ///< maintenance begins: the node's jobs are checkpointed and stopped
  NodeRestored,
  NodeDrained,   ///< maintenance is announced: no job may run on the node from `until_ns` on
  RateObserved,  ///< the result of ActionKind::Observe
  NodeAwake,     ///< a node that ActionKind::Wake named can run jobs again
  /// A running job failed, for example out of memory, and can resume from its last checkpoint. A
  /// permanent failure is JobFinished.
  JobBroke,
  TimePassed,  ///< the wake-up time that the core returned
  /// Reserved for a reservation, from `from_ns` to `until_ns`; kNever: a part of the cluster, on
  /// which jobs of others stay until they end.
  NodesPromised,
  PromiseOver,   ///< a reservation ended or was cancelled
  JobAltered,    ///< a job that does not run has another walltime limit or priority
  JobMoved,      ///< the job belongs to `reservation` from now on, or to none; it keeps its GPUs
  ArrayAltered,  ///< the array of this job may have another number of tasks running at once
  /// `found` is held by `job`, which the core did not start and does not know, or, without a job,
  /// `gpu` is left out. Running jobs that the job collides with are preempted. Replaces what the
  /// same holder held.
  JobFound,
  FoundOver,      ///< what this holder held is free again; unknown holders are ignored
  JobProgressed,  ///< a running job is expected to run for `forecast` in total, as it reports
};

/// Use of one of its GPUs by a job without neighbours. Negative = unknown.
struct AloneUse {
  double gpu_util_pct = -1;
  double gpu_power_w = -1;  ///< mean
  int64_t gpu_mem_bytes = -1;
};

/// One event. `kind` determines which fields are valid.
struct Event {
  EventKind kind = EventKind::TimePassed;
  TimeNs at_ns = 0;
  JobId job{};
  NodeId node{};
  TimeNs until_ns = 0;  ///< NodeDrained: start of the maintenance window; NodesPromised: end
  /// JobSubmitted; JobAltered: its limit and priority. Read during the call only.
  const JobRequest* request = nullptr;
  JobArray array{};  ///< JobSubmitted, if the request names an array; ArrayAltered
  const TrainingFacts* training = nullptr;  ///< JobSubmitted; null: unknown
  RunForecast forecast{};                   ///< JobSubmitted, JobProgressed
  double slowdown = 1;          ///< RateObserved: time of an epoch / its time without neighbours
  bool failed = false;          ///< JobFinished, JobKilled: the job failed
  bool out_of_memory = false;   ///< JobBroke, or with `failed`: it ran out of memory
  bool never_began = false;     ///< JobBroke: it was not launched, so neighbours are not to blame
  AloneUse alone{};             ///< JobFinished, if the job never had neighbours
  ReservationId reservation{};  ///< NodesPromised, PromiseOver, JobMoved
  TimeNs from_ns = 0;           ///< NodesPromised
  std::span<const NodeId> nodes{};         ///< NodesPromised; read during the call only
  GpuId gpu{};                             ///< JobFound, FoundOver without a job
  const FoundAllocation* found = nullptr;  ///< JobFound; read during the call only
};

/// Why a job got these GPUs: the entry of the level x bin matrix that it was placed by.
struct PlacementReason {
  uint8_t level = 0;     ///< topology level within which the GPUs had to lie
  double bin_value = 1;  ///< largest binned PM score that was allowed
  double product = 1;    ///< bin value x locality penalty of the level
  /// knowledge::PredictionLevel of a shared placement; 0 = the GPUs were free.
  uint8_t prediction = 0;
};

/// What a job holds while it runs.
struct Allocation {
  std::vector<GpuId> gpus;    ///< in the order they were selected
  std::vector<NodeId> hosts;  ///< one entry per instance, for jobs with a resource type
  PlacementReason reason;
};

enum class ActionKind : uint8_t {
  Start,    ///< launch the job on the allocation that the core holds for it
  Preempt,  ///< checkpoint and stop the job; it waits again
  Abandon,  ///< the job was lost with its node; it waits again and resumes from its last checkpoint
  Observe,  ///< measure one epoch of the job, or until `until_ns`; report EventKind::RateObserved
  Cap,      ///< limit the power of a GPU; `cap` as in Tenants::Group
  Rest,     ///< put an idle node to sleep
  Wake,     ///< wake a node; EventKind::NodeAwake reports that it is awake
};

struct Action {
  ActionKind kind = ActionKind::Start;
  JobId job{};
  /// Start: the same GPUs that the job held last, so no data has to be moved.
  bool same_gpus = false;
  /// Preempt: a provisional placement is undone.
  bool undo = false;
  /// Preempt: a migration; the Start on other GPUs follows in the same decision.
  bool move = false;
  /// Preempt: the Start on another number of GPUs follows in the same decision.
  bool resize = false;
  int8_t cap = -1;      ///< Cap: index into the caps of the power model; -1 = no limit
  GpuId gpu{};          ///< Cap
  NodeId node{};        ///< Rest, Wake
  TimeNs until_ns = 0;  ///< Observe: the latest end of the observation
};

/// A co-located job failed and was requeued. Kept for the statistics of co-location.
struct Breakage {
  TimeNs at_ns = 0;
  JobId job{};
  std::vector<JobId> beside{};  ///< ascending
  bool out_of_memory = false;
};

}  // namespace goban::core::model
