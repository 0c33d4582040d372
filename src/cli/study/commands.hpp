// Commands for simulations of job histories.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_simulate(Command& app, Action& action);
void add_explain(Command& app, Action& action);
void add_predict(Command& app, Action& action);
void add_policies(Command& app, Action& action);
void add_lab(Command& app, Action& action);
void add_trace(Command& app, Action& action);
void add_trace_inspect(Command& trace, Action& action);
void add_trace_convert(Command& trace, Action& action);

inline constexpr std::array kStudyCommands = {
    CommandEntry{"simulate", add_simulate}, CommandEntry{"explain", add_explain},
    CommandEntry{"predict", add_predict},   CommandEntry{"policies", add_policies},
    CommandEntry{"trace", add_trace},       CommandEntry{"lab", add_lab},
};

}  // namespace goban::cli
