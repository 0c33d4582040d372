// The search for nodes whose jobs could all go on elsewhere.
#pragma once

#include <optional>

#include "core/policy/migration/migration.hpp"
#include "core/policy/policy_set.hpp"
#include "core/scheduler/sharing_books.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

/// A node of which a part is used and whose jobs may all be moved, to other such nodes, where the
/// placement policy would put them; and the migration policy says that this pays. The least used
/// node first. Jobs that share GPUs stay together. Costs: as placing the jobs of up to
/// kEvacuationsTried nodes.
[[nodiscard]] std::optional<policy::Evacuation> find_evacuation(const State& state,
                                                                const policy::PolicySet& policies,
                                                                const SharingBooks& books,
                                                                uint64_t seed);
inline constexpr size_t kEvacuationsTried = 8;

}  // namespace goban::core::scheduler
