// From the configuration and the GPUs that were found to the Site that is scheduled.
#pragma once

#include <vector>

#include "base/gpus/gpu.hpp"
#include "live/controller/controller.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

/// One node with these GPUs. Errors: those of reading the files it names; Usage if the policy is
/// simulation-only, or needs knowledge that there is none of.
[[nodiscard]] base::Result<live::controller::Site> make_site(
    const ServeConfig& config, const std::vector<base::gpus::LocalGpu>& gpus);

}  // namespace goban::serve::daemon
