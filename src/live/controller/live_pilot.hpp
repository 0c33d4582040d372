// A pilot on the live site: two policies in turn (core/pilot), as the job table keeps it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.hpp"
#include "core/model/ids.hpp"
#include "core/pilot/outcomes.hpp"

namespace goban::live::controller {

using base::TimeNs;

enum class PilotState : uint8_t {
  Running,
  Ended,     ///< it reached the end of its plan
  Stopped,   ///< by an operator
  FellBack,  ///< a stop rule was broken
};
/// "running", "ended", "stopped", "fell back".
[[nodiscard]] std::string_view pilot_state_name(PilotState state);

struct LivePilot {
  core::pilot::Plan plan{};
  PilotState state = PilotState::Running;
  TimeNs started_ns = 0;
  TimeNs closed_ns = -1;  ///< -1 = it runs
  int32_t period = 0;     ///< the present one, or the last one that began
  std::string started_by{};
  std::string detail{};  ///< why it was stopped, or fell back
  /// Its nodes and jobs, if its plan is limited; invalid: the whole site.
  core::model::ReservationId part{};
  /// By the period of their submission, what jobs got that have ended; after its end, all jobs.
  std::vector<core::pilot::Outcomes> periods{};

  [[nodiscard]] bool runs() const { return state == PilotState::Running; }
  /// The policy that it asks for now; only while it runs.
  [[nodiscard]] const std::string& policy() const {
    return plan.arm(period) == core::pilot::Arm::B ? plan.policy_b : plan.policy_a;
  }
  /// The time up to which submissions belong to it.
  [[nodiscard]] TimeNs until_ns() const {
    return runs() ? base::add_saturating(started_ns, plan.length_ns()) : closed_ns;
  }
};

[[nodiscard]] nlohmann::json to_json(const LivePilot& pilot);
/// Errors are stored in `in`. Unknown members are ignored.
void read_pilot(base::FieldReader& in, LivePilot& pilot);

}  // namespace goban::live::controller
