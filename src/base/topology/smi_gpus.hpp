// The list of GPUs of nvidia-smi.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/topology/smi_matrix.hpp"
#include "base/topology/topology.hpp"

namespace goban::base::topology {

/// Gives the GPUs that hwloc found the numbers and names of the driver. `csv`: index, PCI address
/// and name; if it is empty, they are numbered in the order of their addresses. Errors: BadData for
/// a damaged line, a GPU that is there twice, and one of `matrix` that is missing.
[[nodiscard]] Status name_gpus(std::string_view csv, const SmiMatrix& matrix,
                               std::vector<Device>& gpus);

}  // namespace goban::base::topology
