// The commands of `goban`. Each parses its own arguments, calls the rooms below and prints.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace goban::cli {

/// What main runs once the arguments are parsed: returns the exit code.
using Action = std::function<int()>;

/// Prints `goban: error: ...` to stderr; returns the exit code of the error.
int report_error(const base::Error& error);

/// Set when the user pressed Ctrl-C; long work looks at it and stops.
const std::atomic<bool>& interrupted();
/// From now on the first Ctrl-C sets interrupted(); another one, over a second later, ends the
/// program at once.
void catch_interrupts();

/// 130: ended by Ctrl-C, as shells say.
inline constexpr int kExitInterrupted = 130;

void add_simulate(CLI::App& app, Action& action);
void add_analyze(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_policies(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_trace_inspect(CLI::App& trace, Action& action);
void add_trace_convert(CLI::App& trace, Action& action);
void add_history(CLI::App& app, Action& action);
void add_cluster(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_energy(CLI::App& app, Action& action);
void add_colocation(CLI::App& app, Action& action);
void add_series(CLI::App& app, Action& action);
void add_collect(CLI::App& app, Action& action);

}  // namespace goban::cli
