// Which GPUs of this machine are in use, as far as the driver, the cores and a daemon know.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "service/machine_gpus.hpp"

namespace goban::cli {

/// By index of a GPU: why it is busy. One that is not there is idle.
using BusyGpus = std::map<int32_t, std::string>;

/// Shares of a GPU or its cores that others may use without it being busy.
inline constexpr double kIdleGpuPctMax = 5;
inline constexpr double kIdleCoresPctMax = 50;

/// By the driver: processes that compute on it, utilisation. Of virtual GPUs: how busy their cores
/// are, looked at for a fifth of a second.
[[nodiscard]] BusyGpus busy_by_use(const service::MachineGpus& machine);

/// By the jobs of the daemon that `server` names (empty: the usual one), if one runs. One that
/// manages another number of GPUs than this machine has counts as all of them while it runs jobs.
/// Errors: the daemon answers that it will not tell; with a `server` named, also if none is there.
[[nodiscard]] base::Result<BusyGpus> busy_by_jobs(const service::MachineGpus& machine,
                                                  const std::string& server);

}  // namespace goban::cli
