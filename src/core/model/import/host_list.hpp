// Slurm's host lists: "g[001-004,7],login1" (man scontrol, "show hostnames").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::core::model {

/// All names, in the order of the list. Errors: BadData without a place if brackets do not match, a
/// range is invalid, or there are more than kNodesMax names.
[[nodiscard]] base::Result<std::vector<std::string>> expand_host_list(std::string_view list);

}  // namespace goban::core::model
