// The parts of `goban series`.
#pragma once

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_series_import(Command& series, Action& action);
void add_series_info(Command& series, Action& action);
void add_series_show(Command& series, Action& action);
void add_series_prune(Command& series, Action& action);

}  // namespace goban::cli
