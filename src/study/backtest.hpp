// Compares the runs of a study, and the run of the site's own policy with what was recorded.
#pragma once

#include "study/results/simulate_report.hpp"
#include "study/runs.hpp"

namespace goban::study {

/// Gains of the runs against the site's policy, with the back-test if it was requested.
/// Errors: Usage if the warm-up leaves no job; BadData if no counted job has a recorded start.
[[nodiscard]] base::Result<results::Comparison> compare_runs(const StudyOptions& options,
                                                             const Inputs& inputs,
                                                             const FinishedRuns& runs);

}  // namespace goban::study
