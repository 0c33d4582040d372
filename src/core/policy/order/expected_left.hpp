// How long a job is expected to go on, from its forecast and from the time that it has run.
#pragma once

#include "core/model/job.hpp"

namespace goban::core::policy {

/// The median of the remaining run time, given what has passed; not above the walltime limit.
/// Without a forecast the limit stands for the median, without a limit one hour.
[[nodiscard]] base::TimeNs expected_left_ns(const model::JobState& job, base::TimeNs now);

}  // namespace goban::core::policy
