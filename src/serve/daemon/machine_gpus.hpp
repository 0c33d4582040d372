// The GPUs of this machine: those of the NVIDIA driver, or virtual ones.
#pragma once

#include <vector>

#include "base/gpus/machine_gpus.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

using base::gpus::MachineGpus;

/// Errors: Failed if there is no driver or no GPU and no virtual ones are configured.
[[nodiscard]] base::Result<MachineGpus> find_gpus(const ServeConfig& config);

/// `count` virtual GPUs on these cores. Each computes on its part of them; with fewer cores than
/// GPUs several share one. Each has an equal part of `mem_bytes`. `slowness` is of the first ones,
/// the rest has 1.
[[nodiscard]] std::vector<base::gpus::LocalGpu> virtual_gpus(int32_t count,
                                                             const std::vector<int32_t>& cores,
                                                             int64_t mem_bytes,
                                                             const std::vector<double>& slowness);

/// Gives virtual GPUs the watts of the configured power model; without one they have none. Real
/// GPUs say their watts themselves. Errors: those of site::inputs::resolve_power().
[[nodiscard]] base::Status add_power(const ServeConfig& config,
                                     std::vector<base::gpus::LocalGpu>& gpus);

}  // namespace goban::serve::daemon
