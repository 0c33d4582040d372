// The commands of `goban`. Each parses its own arguments, calls the rooms below and prints.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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

/// For commands that end with a command of the user's: CLI11 would take a `--` before it for the
/// end of our own. Call before parsing, with what main got.
void keep_double_dashes(int argc, char** argv);
/// The user's words, as they were; a `--` in front of them is ours and left out.
[[nodiscard]] std::vector<std::string> words_behind_options(const CLI::App& command);

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
void add_profile_measure(CLI::App& profile, Action& action);
void add_measure_block(CLI::App& app, Action& action);
void add_energy(CLI::App& app, Action& action);
void add_colocation(CLI::App& app, Action& action);
void add_series(CLI::App& app, Action& action);
void add_collect(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_token(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_backup(CLI::App& app, Action& action);
void add_supervise(CLI::App& app, Action& action);
void add_submit(CLI::App& app, Action& action);
void add_queue(CLI::App& app, Action& action);
void add_what_if(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_job_actions(CLI::App& app, Action& action);  ///< cancel, hold, release, requeue
void add_logs(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_attach(CLI::App& app, Action& action);
void add_nodes(CLI::App& app, Action& action);
void add_reservations(CLI::App& app, Action& action);  ///< reserve, reservations
void add_top(CLI::App& app, Action& action);           ///< top, stats
void add_shell_help(CLI::App& app, Action& action);    ///< completion, man

}  // namespace goban::cli
