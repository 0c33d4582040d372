// The GPUs of this machine that jobs of a daemon hold.
#pragma once

#include <string>

#include "live/machine/busy_gpus.hpp"
#include "serve/daemon/machine_gpus.hpp"

namespace goban::cli {

using live::machine::BusyGpus;

/// GPUs held by jobs of the daemon at `server` (empty: the default address), if one runs. If it
/// manages a number of GPUs other than this machine's, all GPUs are busy while it runs jobs.
/// Errors: the daemon rejects the request; with a `server` given, also if no daemon answers.
[[nodiscard]] base::Result<BusyGpus> busy_by_jobs(const base::gpus::MachineGpus& machine,
                                                  const std::string& server);

}  // namespace goban::cli
