// Which GPUs of this machine are in use, according to the driver or the load of the cores.
#pragma once

#include <map>
#include <string>

#include "base/gpus/machine_gpus.hpp"

namespace goban::live::machine {

/// The reason why a GPU is busy, by GPU index. GPUs without an entry are idle.
using BusyGpus = std::map<int32_t, std::string>;

/// Utilisation of a GPU or its cores up to which it is considered idle.
inline constexpr double kIdleGpuPctMax = 5;
inline constexpr double kIdleCoresPctMax = 50;

/// By the driver: compute processes and utilisation. For virtual GPUs: the load of their cores over
/// 0.2 s.
[[nodiscard]] BusyGpus busy_by_use(const base::gpus::MachineGpus& machine);

}  // namespace goban::live::machine
