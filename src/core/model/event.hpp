// Events: the only input of the core. Events carry their time; the core has no clock.
#pragma once

#include <cstdint>
#include <span>

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
  FoundOver,  ///< what this holder held is free again; unknown holders are ignored
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
  RunForecast forecast{};                   ///< JobSubmitted
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

}  // namespace goban::core::model
