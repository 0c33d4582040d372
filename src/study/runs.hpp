// From options and inputs to finished runs: one a policy, their figures and their files.
#pragma once

#include <string>
#include <vector>

#include "cli/study/simulate_html.hpp"
#include "cli/study/simulate_inputs.hpp"
#include "cli/study/simulate_options.hpp"
#include "study/results/run_metrics.hpp"
#include "study/simulator/batch.hpp"

namespace goban::cli {

/// One run a policy, ready to go. Refers to the inputs, which outlive it.
struct RunPlan {
  RunPlan(const SimulateOptions& options, const SimulateInputs& inputs,
          const std::vector<core::policy::Composition>& policies);
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  core::knowledge::PmScores ideal;
  std::vector<core::knowledge::LocalityPenalties> penalties;
  std::vector<study::simulator::BatchRun> runs;  ///< add observers before running them
};

/// Folder of one run's files; composition names hold '+', which every file system takes.
[[nodiscard]] std::string run_folder(const std::string& out, const std::string& policy);

/// Runs all policies and writes the files that the options ask for, but for the report: `html` only
/// watches. Errors: those of simulate and of writing.
[[nodiscard]] base::Result<FinishedRuns> run_policies(
    const SimulateOptions& options, const SimulateInputs& inputs,
    const std::vector<core::policy::Composition>& policies, SimulateHtml& html);

}  // namespace goban::cli
