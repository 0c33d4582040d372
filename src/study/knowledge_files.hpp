// The part of `goban simulate` that reads power models, co-location histories and deadlines.
#pragma once

#include "cli/study/simulate_inputs.hpp"

namespace goban::cli {

/// `--deadlines` names a file.
[[nodiscard]] bool is_deadline_file(const std::string& spec);

/// Reads what --energy, --colocation and --deadlines name into `inputs`, finds the applications of
/// its jobs, and notes what is missing. Without these options nothing changes.
[[nodiscard]] base::Status add_knowledge(const SimulateFiles& files, uint64_t seed,
                                         SimulateInputs& inputs);

}  // namespace goban::cli
