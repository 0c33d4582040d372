// The sizes of elastic jobs in a decision: what the policy of sizes sees, and what follows from its
// choice.
#pragma once

#include <vector>

#include "core/policy/size/size.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

/// What a job is to run on from now on.
struct SizeChange {
  Slot slot = 0;
  bool runs = false;
  bool waits = false;  ///< it is withheld, or stopped; `size` is what it would start with
  policy::Size size{};
};

/// The changes of this decision: running jobs that get another size or are stopped, and all waiting
/// jobs that are planned. A running job grows only if that saves more time than it costs. Jobs that
/// share their GPUs, stay, or belong to a reservation keep their size. Cost: nodes + jobs, and what
/// the policy takes.
[[nodiscard]] std::vector<SizeChange> choose_sizes(const State& state,
                                                   const policy::PolicySet& policies, TimeNs now);

}  // namespace goban::core::scheduler
