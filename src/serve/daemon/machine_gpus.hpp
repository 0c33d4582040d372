// The GPUs of this machine: those of the NVIDIA driver, or virtual ones.
#pragma once

#include <vector>

#include "base/gpus/machine_gpus.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

using base::gpus::MachineGpus;

/// Errors: Failed if there is no driver or no GPU and no virtual ones are configured.
[[nodiscard]] base::Result<MachineGpus> find_gpus(const ServeConfig& config);

/// `count` virtual GPUs on these cores. Each computes on an equal share of the cores; if there are
/// fewer cores than GPUs, several share a core. Each has an equal share of `mem_bytes`. `slowness`
/// applies to the first GPUs; the others have 1.
[[nodiscard]] std::vector<base::gpus::LocalGpu> virtual_gpus(int32_t count,
                                                             const std::vector<int32_t>& cores,
                                                             int64_t mem_bytes,
                                                             const std::vector<double>& slowness);

/// Sets the power of virtual GPUs from the configured power model; without a model it stays
/// unknown. Real GPUs report their power. Errors: those of site::inputs::resolve_power().
[[nodiscard]] base::Status add_power(const ServeConfig& config,
                                     std::vector<base::gpus::LocalGpu>& gpus);

}  // namespace goban::serve::daemon
