// What the commands of `goban` share. Each parses its arguments, calls a function of a layer below,
// and prints.
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

/// An entry of a folder's commands.hpp: adds a command, or several that belong together.
struct CommandEntry {
  std::string_view name;  ///< of the command, or of the first one
  void (*add)(Command& app, Action& action);
};

}  // namespace goban::cli
