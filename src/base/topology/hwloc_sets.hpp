// A check of hwloc.xml before hwloc reads it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base::topology {

/// hwloc takes the sets of processors and NUMA nodes for granted, and crashes where an object of
/// an XML text lacks one. Errors: BadData, with `file`, line and attribute.
[[nodiscard]] Status check_hwloc_sets(std::string_view xml, const std::string& file);

}  // namespace goban::base::topology
