// A node that is silent while runs are on it: the engine does not know whether they go on. It is
// listed as drained, with this reason, and an operator may fence it.
#pragma once

#include <string_view>

namespace goban::live {

inline constexpr std::string_view kSilentNode =
    "not ready, and Kubernetes has not evicted its pods";

}  // namespace goban::live
