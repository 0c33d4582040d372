// System clocks, for code outside the core. The core gets the time as an argument.
#pragma once

#include "base/time.hpp"

namespace goban::base {

/// Nanoseconds since 1970-01-01 UTC. May jump when the system clock is set.
[[nodiscard]] TimeNs wall_ns();
/// Nanoseconds since an unspecified time in the past. Monotonic.
[[nodiscard]] TimeNs steady_ns();
/// The same in seconds; only differences are meaningful.
[[nodiscard]] double steady_s();

}  // namespace goban::base
