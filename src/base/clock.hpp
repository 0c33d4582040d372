// The clocks of the system, for code outside the pure core, which is handed the time instead.
#pragma once

#include "base/time.hpp"

namespace goban::base {

/// Nanoseconds since 1970. May jump when somebody sets the clock.
[[nodiscard]] TimeNs wall_ns();
/// Nanoseconds since some moment in the past. Never goes back.
[[nodiscard]] TimeNs steady_ns();
/// The same in seconds: differences of it are time spans.
[[nodiscard]] double steady_s();

}  // namespace goban::base
