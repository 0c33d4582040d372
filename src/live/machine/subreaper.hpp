// A process that looks after others whatever happens to its parent: `goban supervise`.
#pragma once

#include "base/files.hpp"

namespace goban::live::machine {

/// Makes this process one: its own session in the root folder, no files but the standard ones, the
/// adoption of orphans, and protection from the OOM killer, which requires root. Signals of
/// terminals, limits and full disks are ignored, and so are those that mean nothing here. Returns
/// the descriptor (signalfd) that receives SIGCHLD and SIGTERM; invalid on failure.
[[nodiscard]] base::Descriptor become_subreaper();

}  // namespace goban::live::machine
