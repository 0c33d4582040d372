// What the commands of `goban` share. A command parses its arguments, calls a function of a lower
// layer, and prints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/shell/options.hpp"

namespace goban::cli {

/// What main runs once the arguments are parsed: returns the exit code.
using Action = std::function<int()>;

/// Prints `goban: error: ...` to stderr; returns the exit code of the error.
int report_error(const base::Error& error);

/// True after Ctrl-C; long operations check it and stop.
const std::atomic<bool>& interrupted();
/// From now on the first Ctrl-C sets interrupted(); another one, more than a second later, exits
/// immediately.
void catch_interrupts();
/// Afterwards: Ctrl-C ends the wait for a file or pipe that is opened or read, as an error of it.
void interrupt_reads();

/// The exit code after Ctrl-C, as shells define it: 128 + SIGINT.
inline constexpr int kExitInterrupted = 130;

/// For commands that are followed by a user's command: CLI11 would treat a `--` before it as the
/// end of our own options. Call before parsing, with the arguments of main.
void keep_double_dashes(int argc, char** argv);
/// The words of the user's command, unchanged; without a leading `--`, which is ours.
[[nodiscard]] std::vector<std::string> words_behind_options(const Command& command);

/// An entry of a folder's commands.hpp: adds a command, or several that belong together.
struct CommandEntry {
  std::string_view name;  ///< of the command, or of the first of several
  void (*add)(Command& app, Action& action);
};

}  // namespace goban::cli
