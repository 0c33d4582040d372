// Histories made of the jobs of another one: its first days, or days drawn from it.
#pragma once

#include <span>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/history/resample.hpp"

namespace goban::study::lab {

using base::TimeNs;
using history::Pick;

/// The jobs that were submitted within this time after the first one.
[[nodiscard]] std::vector<Pick> first_jobs(const core::model::JobHistory& history, TimeNs span_ns);

/// The history of these jobs; `picks` ascend by submission. Recorded times move with the jobs.
[[nodiscard]] core::model::JobHistory take_jobs(const core::model::JobHistory& history,
                                                std::span<const Pick> picks);

}  // namespace goban::study::lab
