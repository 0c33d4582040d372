// Where a gang stands: what answers the orders that it got.
#pragma once

#include <vector>

#include "live/engine/cluster/picture.hpp"
#include "live/engine/kubernetes/gangs.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"

namespace goban::live::engine::kubernetes {

/// The nodes and GPUs of its pods that have a node.
[[nodiscard]] std::vector<NodePart> parts_of(const Gang& gang, const Holdings& holdings);

/// `told`: as it was told last; null: never. `started`: the run of which the start was seen.
[[nodiscard]] cluster::JobStand stand_of(const Gang& gang, const Holdings& holdings,
                                         const JobSeen* told, RunId started);

}  // namespace goban::live::engine::kubernetes
