// Where a gang stands: what answers the orders that it got.
#pragma once

#include <vector>

#include "live/engine/cluster/picture.hpp"
#include "live/engine/kubernetes/gangs.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"

namespace goban::live::engine::kubernetes {

/// The nodes and GPUs of its pods that have a node.
[[nodiscard]] std::vector<NodePart> parts_of(const Gang& gang, const Holdings& holdings);

/// Its pods are those of a Job that is gone.
[[nodiscard]] bool is_of_deleted_job(const Gang& gang);

/// A gang without a Job or object of its own has pods that its controllers made anew, without a
/// node, in place of some that had one.
[[nodiscard]] bool lacks_pods(const Gang& gang);

/// `told`: as it was told last; null: never. `started`: the run of which the start was seen.
[[nodiscard]] cluster::JobStand stand_of(const Gang& gang, const Holdings& holdings,
                                         const JobSeen* told, RunId started);

}  // namespace goban::live::engine::kubernetes
