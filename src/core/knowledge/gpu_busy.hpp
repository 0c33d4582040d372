// How busy an application keeps its GPU, from the shares of time of its job profile: an application
// that waits for its input leaves most of the GPU to a neighbour.
#pragma once

#include <optional>

#include "base/reports/job_profile.hpp"

namespace goban::core::knowledge {

/// Percent of the time in which the GPU computes: the measured utilisation if the profile has it,
/// otherwise the shares of computing and evaluating. nullopt if the profile has no shares of time
/// (JobProfile::time_pct): nothing else is derived from such a profile.
[[nodiscard]] std::optional<double> gpu_busy_pct(const base::reports::JobProfile& profile);

}  // namespace goban::core::knowledge
