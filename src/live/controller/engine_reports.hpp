// Applies engine reports about runs and nodes to the jobs.
#pragma once

#include <string>

#include "live/controller/nodes.hpp"
#include "live/controller/seen_jobs.hpp"

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
    SeenJobs& seen;
  };
  /// The parts outlive this.
  explicit EngineReports(const Parts& parts) : parts_(parts) {}

  /// A report about an unknown run is ignored.
  void take(const EngineReport& input, TimeNs at);
  /// What a running job is expected to run for in total after this report, if that differs from
  /// what is expected now by enough to matter; else unknown.
  [[nodiscard]] core::model::RunForecast expected_after(const Report& report, TimeNs at) const;

 private:
  void node(const Report& report, TimeNs at);
  void started(const Report& report, TimeNs at);
  void progressed(const Report& report, const core::model::RunForecast& expected, TimeNs at);
  /// Progress of a job that the engine started by itself: it has no run here, and the report run 0.
  void progressed_elsewhere(const Report& report, TimeNs at);
  void ended(const Report& report, TimeNs at);
  void ended_after_stop(LiveJob& job, StopReason reason, const Report& report, TimeNs at);
  /// The machine could not start the run: the job waits on, and launches there are held.
  void unable(const Report& report, TimeNs at);
  /// The engine did not start the run: the job waits on, and what it names is left out.
  void declined(const Report& report, TimeNs at);
  /// A run that never began is removed; its job waits on.
  void wait_on(LiveJob& job, const LiveRun& run, TimeNs at);
  /// The run ended with an unknown outcome.
  void lost(const Report& report, TimeNs at);
  /// A run that was ordered from the engine; null if there is none.
  [[nodiscard]] const LiveRun* find_launched(RunId id) const;

  Parts parts_;
};

}  // namespace goban::live::controller
