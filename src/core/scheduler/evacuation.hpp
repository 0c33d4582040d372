// The search for nodes whose jobs can all be moved.
#pragma once

#include <optional>

#include "core/policy/migration/migration.hpp"
#include "core/policy/policy_set.hpp"
#include "core/scheduler/sharing_books.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

/// A partly used node whose jobs can all be moved to other partly used nodes, to GPUs chosen by the
/// placement policy, where the migration policy finds that this pays. The least used node is tried
/// first. Jobs that share GPUs stay together. Cost: placing the jobs of up to kEvacuationsTried
/// nodes.
[[nodiscard]] std::optional<policy::Evacuation> find_evacuation(const State& state,
                                                                const policy::PolicySet& policies,
                                                                const SharingBooks& books,
                                                                uint64_t seed);
inline constexpr size_t kEvacuationsTried = 8;

}  // namespace goban::core::scheduler
