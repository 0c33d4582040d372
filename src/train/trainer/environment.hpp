// The environment of a measurement, as rows of a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace goban::train::trainer {

/// Machine, system, libraries and ranks: (name, value). Values that cannot be determined are
/// "unknown".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_rows(
    int ranks, const std::string& device);

/// A warning if matrix products use the reference BLAS, which Debian installs by default and which
/// is about 20 times slower; empty otherwise.
[[nodiscard]] std::string slow_blas_warning();

}  // namespace goban::train::trainer
