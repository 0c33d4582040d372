// Which GPUs of this machine are in use, as far as the driver and the cores know.
#pragma once

#include <map>
#include <string>

#include "base/gpus/machine_gpus.hpp"

namespace goban::live::machine {

/// By index of a GPU: why it is busy. One that is not there is idle.
using BusyGpus = std::map<int32_t, std::string>;

/// Shares of a GPU or its cores that others may use without it being busy.
inline constexpr double kIdleGpuPctMax = 5;
inline constexpr double kIdleCoresPctMax = 50;

/// By the driver: processes that compute on it, utilisation. Of virtual GPUs: how busy their cores
/// are, looked at for a fifth of a second.
[[nodiscard]] BusyGpus busy_by_use(const base::gpus::MachineGpus& machine);

}  // namespace goban::live::machine
