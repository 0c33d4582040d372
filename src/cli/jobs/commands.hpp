// Commands for jobs of a daemon.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_submit(Command& app, Action& action);
void add_queue(Command& app, Action& action);
void add_what_if(Command& app, Action& action);
void add_show(Command& app, Action& action);
/// cancel, hold, release, requeue, alter, suspend, resume
void add_job_actions(Command& app, Action& action);
void add_logs(Command& app, Action& action);
void add_wait(Command& app, Action& action);
void add_run(Command& app, Action& action);
void add_eff(Command& app, Action& action);
void add_attach(Command& app, Action& action);
void add_top(Command& app, Action& action);  ///< top, stats
void add_doctor(Command& app, Action& action);
/// doctor topology, doctor nccl
void add_doctor_topology(Command& doctor, Action& action);

inline constexpr std::array kJobsCommands = {
    CommandEntry{"submit", add_submit},
    CommandEntry{"queue", add_queue},
    CommandEntry{"whatif", add_what_if},
    CommandEntry{"show", add_show},
    CommandEntry{"cancel", add_job_actions},
    CommandEntry{"logs", add_logs},
    CommandEntry{"wait", add_wait},
    CommandEntry{"run", add_run},
    CommandEntry{"attach", add_attach},
    CommandEntry{"top", add_top},
    CommandEntry{"eff", add_eff},
    CommandEntry{"doctor", add_doctor},
};

}  // namespace goban::cli
