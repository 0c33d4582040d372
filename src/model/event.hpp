// What happens to the core: its only input. Events carry their time; the core has no clock.
#pragma once

#include <cstdint>

#include "model/job.hpp"

namespace goban::model {

enum class EventKind : uint8_t {
  JobSubmitted,
  JobFinished,       ///< the job ended by itself
  JobKilled,         ///< the engine ended it at its walltime limit, or a user cancelled it
  NodeLost,          ///< it failed: its jobs are gone, its GPUs are out of use
  NodeClosed,        ///< maintenance begins: its jobs are stopped in good order
  NodeRestored,
  NodeDrained,       ///< known in advance: nothing may run on the node from `until_ns` on
  TimePassed,        ///< the wake-up that the core asked for
};

/// One event. Which fields mean something follows from `kind`.
struct Event {
  EventKind kind = EventKind::TimePassed;
  TimeNs at_ns = 0;
  JobId job{};
  NodeId node{};
  TimeNs until_ns = 0;                  ///< NodeDrained: start of the maintenance window
  const JobRequest* request = nullptr;  ///< JobSubmitted; read during the call only
  JobArray array{};                     ///< JobSubmitted, if the request names an array
};

}  // namespace goban::model
