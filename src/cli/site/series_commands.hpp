// The parts of `goban series`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_series_import(CLI::App& series, Action& action);
void add_series_info(CLI::App& series, Action& action);
void add_series_show(CLI::App& series, Action& action);
void add_series_prune(CLI::App& series, Action& action);

}  // namespace goban::cli
