// Commands for the shell.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_wrap(Command& app, Action& action);
void add_shims(Command& app, Action& action);
void add_data(Command& app, Action& action);
void add_shell_help(Command& app, Action& action);  ///< completion, man, version, help

inline constexpr std::array kShellCommands = {
    CommandEntry{"wrap", add_wrap},
    CommandEntry{"shims", add_shims},
    CommandEntry{"data", add_data},
    CommandEntry{"completion", add_shell_help},
};

}  // namespace goban::cli
