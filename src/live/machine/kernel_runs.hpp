// One block of a measurement: each kernel run a few times in one process, and its times as text
// from that process to the one that asked.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/measure/estimate.hpp"

namespace goban::live::machine {

/// By core::knowledge::Kernel: seconds of each run, after one that does not count.
using KernelRuns = std::array<std::vector<double>, core::knowledge::kNumKernels>;

/// A line a kernel: `compute 0.0201 0.02`.
[[nodiscard]] std::string to_text(const KernelRuns& runs);
/// Errors: Failed, quoting what is there instead.
[[nodiscard]] base::Result<KernelRuns> parse_runs(std::string_view text);

}  // namespace goban::live::machine
