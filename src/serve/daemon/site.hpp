// From the configuration and the GPUs that were found to the Site that is scheduled.
#pragma once

#include <vector>

#include "engine/local/run_order.hpp"
#include "live/controller/controller.hpp"
#include "service/serve_config.hpp"

namespace goban::service {

/// One node with these GPUs. Errors: those of reading the files it names; Usage if the policy is
/// simulation-only, or needs knowledge that there is none of.
[[nodiscard]] base::Result<live::Site> make_site(const ServeConfig& config,
                                                 const std::vector<engine::local::LocalGpu>& gpus);

}  // namespace goban::service
