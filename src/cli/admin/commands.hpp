// Commands for the daemon and the cluster.
// A new command has its own file, and a declaration and an entry here.
#pragma once

#include <array>

#include "cli/shell/command.hpp"

namespace goban::cli {

void add_serve(Command& app, Action& action);
void add_replay(Command& app, Action& action);
void add_backup(Command& app, Action& action);
void add_supervise(Command& app, Action& action);
void add_stage_worker(Command& app, Action& action);
void add_nodes(Command& app, Action& action);
void add_agent(Command& app, Action& action);
void add_reservations(Command& app, Action& action);  ///< reserve, reservations
void add_token(Command& app, Action& action);
void add_pilot(Command& app, Action& action);
void add_pilot_simulate(Command& pilot, Action& action);  ///< pilot simulate
void add_engine(Command& app, Action& action);
void add_kubernetes_engine(Command& engine, Action& action);  ///< engine kubernetes
void add_slurm_report(Command& slurm, Action& action);        ///< engine slurm observe-report
void add_kubernetes_report(Command& kubernetes,
                           Action& action);  ///< engine kubernetes observe-report

inline constexpr std::array kAdminCommands = {
    CommandEntry{"serve", add_serve},
    CommandEntry{"replay", add_replay},
    CommandEntry{"backup", add_backup},
    CommandEntry{"supervise", add_supervise},
    CommandEntry{"nodes", add_nodes},
    CommandEntry{"reserve", add_reservations},
    CommandEntry{"token", add_token},
    CommandEntry{"engine", add_engine},
    CommandEntry{"agent", add_agent},
    CommandEntry{"pilot", add_pilot},
    CommandEntry{"stage-worker", add_stage_worker},
};

}  // namespace goban::cli
