// Parts of nodes, as engines name them, in the numbers of the core's cluster.
#pragma once

#include <vector>

#include "core/model/found.hpp"
#include "live/engine_events.hpp"

namespace goban::live::controller {

/// The GPUs of these parts. Unknown nodes and indices are omitted.
[[nodiscard]] std::vector<GpuId> gpus_of(const core::model::Cluster& cluster,
                                         const std::vector<NodePart>& parts);
/// What is held there: GPUs, and cores and memory of nodes whose own are known.
[[nodiscard]] core::model::FoundAllocation allocation_of(const core::model::Cluster& cluster,
                                                         const std::vector<NodePart>& parts);

}  // namespace goban::live::controller
