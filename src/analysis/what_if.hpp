// Questions of the kind "what if": estimates from the records alone, and the changed histories with
// which `goban simulate` answers them in full.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/gpu_values.hpp"
#include "analysis/population.hpp"

namespace goban::analysis {

/// How a history differs from what was recorded.
enum class WhatIf : uint8_t {
  AsRecorded,
  Capped,    ///< without the jobs that run longer than the cap: they go to reservations
  UsedGpus,  ///< jobs ask only for the GPUs they used
};
inline constexpr int kNumWhatIfs = 3;
/// `as_recorded`, `capped`, `used_gpus`: the file's name without ".csv".
[[nodiscard]] std::string_view name(WhatIf what_if);

/// Whether there is anything to change: UsedGpus needs values of GPUs.
[[nodiscard]] bool applies(WhatIf what_if, const GpuUse* use);

/// Writes the jobs that hold GPUs as generic CSV, in the order of the records, in pieces; what the
/// paper's conditions leave out stays in, as it needed GPUs too.
void write_history(const Population& population, const Rules& rules, const GpuUse* use,
                   WhatIf what_if, const std::function<void(std::string_view)>& sink);

}  // namespace goban::analysis
