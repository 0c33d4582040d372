// What the reader of simulated results has to know, on a terminal and in a report.
#pragma once

#include <vector>

#include "cli/read_notes.hpp"
#include "cli/simulate_inputs.hpp"

namespace goban::cli {

/// Notes about the history, and about policies that were told more than a live scheduler would
/// know.
[[nodiscard]] std::vector<report::Note> simulate_notes(
    const SimulateFiles& files, const SimulateInputs& inputs,
    const std::vector<policy::Composition>& policies);

}  // namespace goban::cli
