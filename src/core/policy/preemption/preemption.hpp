// Preemption: what happens to running jobs when waiting jobs precede them in the order.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace goban::core::policy {

enum class Preemption : uint8_t {
  None,        ///< running jobs keep their GPUs until they end
  Sticky,      ///< they keep them unless a job ahead of them needs GPUs
  NonSticky,   ///< all jobs are released and placed again in every decision
  ByPriority,  ///< they keep them unless a job of higher priority needs GPUs
};

/// What a preemption costs, if that is weighed.
struct PreemptionPrice {
  bool asked = false;           ///< a job is preempted only if the waiting one gains more
  base::TimeNs restart_ns = 0;  ///< time that a relaunched job holds its GPUs without progress
  /// Interval of checkpoints, if a preempted job loses the work since its last one; 0 = it does
  /// not.
  base::TimeNs checkpoint_ns = 0;
};

/// Running jobs may be evicted one by one.
[[nodiscard]] inline bool evicts(Preemption preemption) {
  return preemption == Preemption::Sticky || preemption == Preemption::ByPriority;
}

}  // namespace goban::core::policy
