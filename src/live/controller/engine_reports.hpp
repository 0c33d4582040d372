// What the engine reports of runs and nodes, and what follows from it for their jobs.
#pragma once

#include <string>

#include "live/controller/nodes.hpp"

namespace goban::live::controller {

class EngineReports {
 public:
  struct Parts {
    JobBook& book;
    const DecisionCore& core;
    Observation& observation;
    Runs& runs;
    Jobs& jobs;
    Nodes& nodes;
  };
  /// The parts outlive this.
  explicit EngineReports(const Parts& parts) : parts_(parts) {}

  /// A report of a run that is not in the book is passed over.
  void take(const Report& report, TimeNs at);

 private:
  void started(const Report& report, TimeNs at);
  void progressed(const Report& report, TimeNs at);
  void ended(const Report& report, TimeNs at);
  void ended_after_stop(LiveJob& job, StopReason reason, const Report& report, TimeNs at);
  /// The run is over, and nobody knows how it ended.
  void lost(const Report& report, TimeNs at);
  /// A run that the engine was told of; null: there is none.
  [[nodiscard]] const LiveRun* find_launched(RunId run) const;

  Parts parts_;
};

}  // namespace goban::live::controller
