// The commands of `goban`. Each parses its own arguments, calls the rooms below and prints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/shell/options.hpp"

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
[[nodiscard]] std::vector<std::string> words_behind_options(const Command& command);

void add_simulate(Command& app, Action& action);
void add_analyze(Command& app, Action& action);
void add_explain(Command& app, Action& action);
void add_policies(Command& app, Action& action);
void add_trace(Command& app, Action& action);
void add_trace_inspect(Command& trace, Action& action);
void add_trace_convert(Command& trace, Action& action);
void add_history(Command& app, Action& action);
void add_cluster(Command& app, Action& action);
void add_profile(Command& app, Action& action);
void add_profile_measure(Command& profile, Action& action);
void add_measure_block(Command& app, Action& action);
void add_energy(Command& app, Action& action);
void add_colocation(Command& app, Action& action);
void add_series(Command& app, Action& action);
void add_collect(Command& app, Action& action);
void add_serve(Command& app, Action& action);
void add_token(Command& app, Action& action);
void add_replay(Command& app, Action& action);
void add_backup(Command& app, Action& action);
void add_supervise(Command& app, Action& action);
void add_submit(Command& app, Action& action);
void add_queue(Command& app, Action& action);
void add_what_if(Command& app, Action& action);
void add_show(Command& app, Action& action);
void add_job_actions(Command& app, Action& action);  ///< cancel, hold, release, requeue
void add_logs(Command& app, Action& action);
void add_run(Command& app, Action& action);
void add_attach(Command& app, Action& action);
void add_nodes(Command& app, Action& action);
void add_reservations(Command& app, Action& action);  ///< reserve, reservations
void add_top(Command& app, Action& action);           ///< top, stats
void add_shell_help(Command& app, Action& action);    ///< completion, man

}  // namespace goban::cli
