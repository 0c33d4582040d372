// What a supervisor leaves that exited without a status: processes, cgroups, sockets, its log.
#pragma once

#include <string>

#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

/// Kills processes that a dead supervisor left. True: none is left.
[[nodiscard]] bool end_leftovers(const RunFolder& folder);
void remove_sockets(const RunFolder& folder);
/// The end of the supervisor's log for messages, behind a colon; empty if it wrote nothing.
[[nodiscard]] std::string tail_of_log(const RunFolder& folder);

}  // namespace goban::live::engine::local
