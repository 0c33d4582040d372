#include "base/clock.hpp"

#include <chrono>

namespace goban::base {

TimeNs wall_ns() {
  return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

TimeNs steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

double steady_s() { return to_seconds(steady_ns()); }

}  // namespace goban::base
