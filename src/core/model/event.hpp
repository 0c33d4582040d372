// What happens to the core: its only input. Events carry their time; the core has no clock.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/job.hpp"

namespace goban::core::model {

enum class EventKind : uint8_t {
  JobSubmitted,
  JobFinished,  ///< the job ended by itself
  JobKilled,    ///< the engine ended it at its walltime limit, or a user cancelled it
  NodeLost,     ///< it failed: its jobs are gone, its GPUs are out of use
  NodeClosed,   ///< maintenance begins: its jobs are stopped in good order
  NodeRestored,
  NodeDrained,   ///< known in advance: nothing may run on the node from `until_ns` on
  RateObserved,  ///< what the core asked for with ActionKind::Observe
  NodeAwake,     ///< a node that was told to wake can run jobs again
  /// A running job broke, for example out of memory; it can be started again from its last
  /// checkpoint. One that breaks for good has finished.
  JobBroke,
  TimePassed,     ///< the wake-up that the core asked for
  NodesPromised,  ///< to a reservation, from `from_ns` to `until_ns`; nobody else has them then
  PromiseOver,    ///< of a reservation: at its end, or before
};

/// What a job took of one of its GPUs while nobody else was on them. Negative = not known.
struct AloneUse {
  double gpu_util_pct = -1;
  double gpu_power_w = -1;  ///< mean
  int64_t gpu_mem_bytes = -1;
};

/// One event. Which fields mean something follows from `kind`.
struct Event {
  EventKind kind = EventKind::TimePassed;
  TimeNs at_ns = 0;
  JobId job{};
  NodeId node{};
  TimeNs until_ns = 0;  ///< NodeDrained: start of the maintenance window; NodesPromised: end
  const JobRequest* request = nullptr;      ///< JobSubmitted; read during the call only
  JobArray array{};                         ///< JobSubmitted, if the request names an array
  const TrainingFacts* training = nullptr;  ///< JobSubmitted; null: nothing is known
  double slowdown = 1;  ///< RateObserved: time of an epoch / the same with no neighbour on the GPUs
  bool failed = false;  ///< JobFinished, JobKilled: it broke
  bool out_of_memory = false;       ///< JobBroke, or if it failed: that is why
  AloneUse alone{};                 ///< JobFinished, of a job that never had neighbours
  ReservationId reservation{};      ///< NodesPromised, PromiseOver
  TimeNs from_ns = 0;               ///< NodesPromised
  std::span<const NodeId> nodes{};  ///< NodesPromised; read during the call only
};

}  // namespace goban::core::model
