// Builds the live::controller::Site from the configuration and the GPUs of the machine.
#pragma once

#include <vector>

#include "base/gpus/gpu.hpp"
#include "live/controller/controller.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

/// A site of one node with these GPUs. With the engine of a cluster, which needs none: its cluster
/// file; without it, a cluster until the engine says what it sees. Errors: those of reading the
/// configured files; Usage if the policy is for simulation only, or requires data that is not
/// configured.
[[nodiscard]] base::Result<live::controller::Site> make_site(
    const ServeConfig& config, const std::vector<base::gpus::LocalGpu>& gpus);

/// Whether the site's policy orders jobs by their priorities.
[[nodiscard]] bool is_by_priority(const live::controller::Site& site);

}  // namespace goban::serve::daemon
