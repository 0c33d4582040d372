// What the reader of simulated results has to know, on a terminal and in a report.
#pragma once

#include <vector>

#include "cli/study/read_notes.hpp"
#include "cli/study/simulate_inputs.hpp"

namespace goban::cli {

/// Notes about the history, and about policies that were told more than a live scheduler would
/// know.
[[nodiscard]] std::vector<study::results::Note> simulate_notes(
    const SimulateFiles& files, const SimulateInputs& inputs,
    const std::vector<core::policy::Composition>& policies);

}  // namespace goban::cli
