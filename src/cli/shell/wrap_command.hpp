// goban wrap: see wrap_command.cpp.
#pragma once

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_wrap(Command& app, Action& action);

}  // namespace goban::cli
