// What a measurement ran on, as rows of a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace goban::train::trainer {

/// Machine, system, libraries and ranks: (name, value). What cannot be found out says "unknown".
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_rows(
    int ranks, const std::string& device);

/// What to say if matrix products come from the reference BLAS, which Debian installs by default
/// and which is some twenty times slower; empty otherwise.
[[nodiscard]] std::string slow_blas_warning();

}  // namespace goban::train::trainer
