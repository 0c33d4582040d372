// Power: what happens to nodes that nobody uses.
#pragma once

#include "base/time.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::policy {

/// Decides on the power states of idle nodes. The core wakes nodes for jobs that find no place.
class Power {
 public:
  virtual ~Power() = default;
  /// May put an idle node to rest.
  [[nodiscard]] virtual bool may_rest() const = 0;
  /// Idle time after which a node of that model with so many GPUs rests; kNever: it never does.
  [[nodiscard]] virtual base::TimeNs rest_after_ns(const knowledge::PowerModel& model,
                                                   uint32_t num_gpus) const = 0;
};

}  // namespace goban::core::policy
