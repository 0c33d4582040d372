// When a waiting job is expected to start.
#pragma once

#include "base/time.hpp"

namespace goban::core::model {

/// kNever: not within the time that was looked ahead, or never.
struct StartInterval {
  base::TimeNs p10_ns = base::kNever;  ///< earlier in one of ten cases
  base::TimeNs p50_ns = base::kNever;
  base::TimeNs p90_ns = base::kNever;
  /// The job started inside the 80 %.
  [[nodiscard]] bool holds(base::TimeNs start_ns) const {
    return start_ns >= p10_ns && start_ns <= p90_ns;
  }
  friend bool operator==(const StartInterval&, const StartInterval&) = default;
};

}  // namespace goban::core::model
