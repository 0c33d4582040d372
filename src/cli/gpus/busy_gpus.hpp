// Which GPUs of this machine jobs of a daemon hold.
#pragma once

#include <string>

#include "live/machine/busy_gpus.hpp"
#include "serve/daemon/machine_gpus.hpp"

namespace goban::cli {

using live::machine::BusyGpus;

/// By the jobs of the daemon that `server` names (empty: the usual one), if one runs. One that
/// manages another number of GPUs than this machine has counts as all of them while it runs jobs.
/// Errors: the daemon answers that it will not tell; with a `server` named, also if none is there.
[[nodiscard]] base::Result<BusyGpus> busy_by_jobs(const base::gpus::MachineGpus& machine,
                                                  const std::string& server);

}  // namespace goban::cli
