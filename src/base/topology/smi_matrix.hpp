// The table of `nvidia-smi topo -m`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "base/topology/topology.hpp"

namespace goban::base::topology {

/// Ways by the names of two devices, such as ("GPU0", "mlx5_1"); the names NIC0, NIC1, ... of newer
/// drivers are replaced by those of their legend.
using SmiMatrix = std::map<std::pair<std::string, std::string>, Path>;

/// An empty text gives an empty matrix. Errors: BadData, with `file` and line, also for a text
/// without a heading, and for devices of the heading without a row.
[[nodiscard]] Result<SmiMatrix> parse_smi_matrix(std::string_view text, const std::string& file);

}  // namespace goban::base::topology
