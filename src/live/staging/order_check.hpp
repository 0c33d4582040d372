// Whether an order keeps to the folders that it must keep to: the process that
// copies may be root until it becomes the owner, and trusts nobody.
#pragma once

#include <string>

#include "live/staging.hpp"

namespace goban::live::staging {

/// What is wrong with an order: paths that leave the folders that they must be
/// in. Empty: nothing.
[[nodiscard]] std::string order_problem(const StageOrder& order);

}  // namespace goban::live::staging
