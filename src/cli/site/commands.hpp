// Commands for the records, metrics and clusters of a site.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_analyze(Command& app, Action& action);
void add_history(Command& app, Action& action);
void add_cluster(Command& app, Action& action);
void add_series(Command& app, Action& action);
void add_collect(Command& app, Action& action);

inline constexpr std::array kSiteCommands = {
    CommandEntry{"analyze", add_analyze}, CommandEntry{"history", add_history},
    CommandEntry{"cluster", add_cluster}, CommandEntry{"series", add_series},
    CommandEntry{"collect", add_collect},
};

}  // namespace goban::cli
