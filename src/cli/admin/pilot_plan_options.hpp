// Options of a pilot's plan, shared by goban pilot plan and goban pilot simulate.
#pragma once

#include "cli/shell/options.hpp"
#include "core/pilot/pilot_plan.hpp"

namespace goban::cli {

/// The policies of a plan can take turns, as the daemon would check. `knows_a`: its policy A was
/// named here, not by the daemon. Errors: Usage if there is no such policy; BadData.
[[nodiscard]] base::Status check_policies(const core::pilot::Plan& plan, bool knows_a);

/// All but the policies. `plan` must outlive the command.
void add_plan_options(Command& command, core::pilot::Plan& plan);

}  // namespace goban::cli
