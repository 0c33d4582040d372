// Commands for GPUs: performance scores, energy, co-location.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_profile(Command& app, Action& action);
void add_energy(Command& app, Action& action);
void add_colocation(Command& app, Action& action);
void add_measure_block(Command& app, Action& action);
void add_profile_measure(Command& profile, Action& action);
void add_profile_cluster(Command& profile, Action& action);

inline constexpr std::array kGpusCommands = {
    CommandEntry{"profile", add_profile},
    CommandEntry{"energy", add_energy},
    CommandEntry{"colocation", add_colocation},
    CommandEntry{"measure-block", add_measure_block},
};

}  // namespace goban::cli
