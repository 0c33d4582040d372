// Preemption: what happens to running jobs when waiting jobs precede them in the order.
#pragma once

#include <cstdint>

namespace goban::core::policy {

enum class Preemption : uint8_t {
  None,        ///< running jobs keep their GPUs until they end
  Sticky,      ///< they keep them unless a job ahead of them needs GPUs
  NonSticky,   ///< all jobs are released and placed again in every decision
  ByPriority,  ///< they keep them unless a job of higher priority needs GPUs
};

/// Running jobs may be evicted one by one.
[[nodiscard]] inline bool evicts(Preemption preemption) {
  return preemption == Preemption::Sticky || preemption == Preemption::ByPriority;
}

}  // namespace goban::core::policy
