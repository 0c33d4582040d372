// Options of a pilot's plan, shared by goban pilot plan and goban pilot simulate.
#pragma once

#include "cli/shell/options.hpp"
#include "core/pilot/pilot_plan.hpp"

namespace goban::cli {

/// All but the policies. `plan` must outlive the command.
void add_plan_options(Command& command, core::pilot::Plan& plan);

}  // namespace goban::cli
