// Power: whether and when idle nodes sleep.
#pragma once

#include "base/time.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::policy {

/// Decides on the power states of idle nodes. The core wakes nodes for jobs that do not fit on the
/// others.
class Power {
 public:
  virtual ~Power() = default;
  /// Idle nodes may sleep.
  [[nodiscard]] virtual bool may_rest() const = 0;
  /// Idle time after which a node of this model with `num_gpus` GPUs sleeps; kNever: never.
  [[nodiscard]] virtual base::TimeNs rest_after_ns(const knowledge::PowerModel& model,
                                                   uint32_t num_gpus) const = 0;
};

}  // namespace goban::core::policy
