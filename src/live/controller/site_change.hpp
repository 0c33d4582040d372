// A site after a change of its cluster.
#pragma once

#include "core/scheduler/core_image.hpp"
#include "live/controller/site.hpp"

namespace goban::live::controller {

/// `old` with this cluster. What is known of GPUs, GPU models and locality follows them: `numbers`
/// are those of the old GPUs in the new cluster.
[[nodiscard]] Site changed_site(const Site& old, core::model::Cluster cluster,
                                const core::scheduler::ClusterNumbers& numbers);

}  // namespace goban::live::controller
