// Jobs whose parts have GPUs of the same indices on their nodes: which indices enough nodes have
// free.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/free_gpus.hpp"

namespace goban::core::scheduler {

/// The first set of `count` GPU indices, in ascending order of sets, that is free on at least
/// `nodes` nodes. On nodes of up to 16 GPUs every set is tried; beyond, sets of consecutive indices
/// only. Cost: O(nodes x sets), at most 12,870 sets.
[[nodiscard]] std::optional<std::vector<uint32_t>> first_equal(const model::Cluster& cluster,
                                                               const model::FreeGpus& free,
                                                               int32_t count, int32_t nodes);

}  // namespace goban::core::scheduler
