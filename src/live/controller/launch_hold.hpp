// A hold of launches on a node.
#pragma once

#include <string>

#include "base/time.hpp"

namespace goban::live::controller {

/// No run starts on a node for a while, as the machine could not make the last launch there, or the
/// engine declined it.
struct LaunchHold {
  base::TimeNs until_ns = 0;             ///< kNever: until the stopping runs have left the node
  base::TimeNs drain_ns = base::kNever;  ///< when an operator's drain begins; kNever = none
  std::string reason{};
  friend bool operator==(const LaunchHold&, const LaunchHold&) = default;
};

}  // namespace goban::live::controller
