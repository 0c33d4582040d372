// Prices the runs of a study, and those of resampled histories, for what a policy is worth.
#pragma once

#include <string>
#include <vector>

#include "base/progress.hpp"
#include "study/results/simulate_report.hpp"
#include "study/runs.hpp"

namespace goban::study {

/// Reads the file that `files.prices` names into `inputs`, with notes for the reader. Errors: those
/// of results::read_prices(); Usage if energy has a price but no power model, or with filler jobs;
/// BadData if dated hours do not cover the submissions and gaps are refused, or if the dates of the
/// history are not known.
[[nodiscard]] base::Status load_prices(const InputFiles& files, Inputs& inputs);

/// What the policies of the finished runs are worth against comparison.reference. Simulates
/// options.seeds resamples of the history's days under all policies. Resamples without jobs or run
/// time are left out; a history of one day, and one whose incidents name jobs, has none. Errors:
/// those of simulate(); BadData if the history takes no time.
[[nodiscard]] base::Result<results::Worth> price_runs(
    const StudyOptions& options, const Inputs& inputs,
    const std::vector<core::policy::Composition>& policies, const FinishedRuns& runs,
    size_t reference, base::Progress& progress);

}  // namespace goban::study
