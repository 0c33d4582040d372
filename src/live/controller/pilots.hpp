// Pilots: switches the policy by the plan, and keeps what jobs got. Decides nothing by itself: what
// changes is an input, so that a replay of the journal is exact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "live/controller/decision_core.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::controller {

/// The policy of this name with the site's rules and options. Errors: Usage if there is none.
[[nodiscard]] base::Result<core::policy::Composition> pilot_policy(const Site& site,
                                                                   const std::string& name);

/// Errors: BadData naming a field of the plan; Failed if a pilot cannot begin now, or the site's
/// settings rule it out.
[[nodiscard]] base::Status check_pilot(const StartPilot& start, const Site& site,
                                       const JobBook& book, const core::scheduler::State& core);
[[nodiscard]] base::Status check_pilot(const StopPilot& stop, const JobBook& book);

/// What jobs got by `now`, by the period of their submission: those that ended, and the others as
/// they stand; from the end of the pilot on, as they stood then. Cost: linear in the jobs of the
/// table.
[[nodiscard]] std::vector<core::pilot::Outcomes> pilot_outcomes(const JobBook& book, TimeNs now);

class Pilots {
 public:
  /// Both outlive this.
  Pilots(JobBook& book, DecisionCore& core) : book_(book), core_(core) {}

  void start(const StartPilot& start, TimeNs at);
  void stop(const StopPilot& stop, TimeNs at);
  void step(const PilotStep& step, TimeNs at);
  /// Uses the policy of the pilot in the job table, which was read from a snapshot.
  void resume();
  /// The step that is due: another period, the end, its stop where the pilot cannot go on, or, if
  /// `weighs` and a stop rule is broken, the return to the site's policy.
  [[nodiscard]] std::optional<PilotStep> due(TimeNs now, bool weighs) const;
  /// When the present period ends; kNever = no pilot runs.
  [[nodiscard]] TimeNs next_ns() const;

 private:
  void close(PilotState state, std::string detail, TimeNs at);
  /// A policy that cannot be used leaves the present one, and the pilot stops.
  void use(const std::string& policy);

  JobBook& book_;
  DecisionCore& core_;
  std::string obstacle_{};  ///< why the pilot cannot go on; empty: nothing. Derived
};

/// Adds a job that has just ended to the pilot in which it was submitted.
void count_for_pilot(JobBook& book, const LiveJob& job);

}  // namespace goban::live::controller
