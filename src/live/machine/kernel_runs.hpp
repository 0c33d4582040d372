// Results of one block of a measurement, in which one process runs each kernel a few times, and
// their text form for the calling process.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/measure/estimate.hpp"

namespace goban::live::machine {

/// Seconds of each run, without the warm-up run, by core::knowledge::Kernel.
using KernelRuns = std::array<std::vector<double>, core::knowledge::kNumKernels>;

/// One line per kernel: `compute 0.0201 0.02`.
[[nodiscard]] std::string to_text(const KernelRuns& runs);
/// Errors: Failed, quoting the invalid line.
[[nodiscard]] base::Result<KernelRuns> parse_runs(std::string_view text);

}  // namespace goban::live::machine
