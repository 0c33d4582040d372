// From options and inputs to finished runs: one a policy, their figures and their files.
#pragma once

#include <string>
#include <vector>

#include "cli/simulate_html.hpp"
#include "cli/simulate_inputs.hpp"
#include "cli/simulate_options.hpp"
#include "engine/simulated/batch.hpp"
#include "report/run_metrics.hpp"

namespace goban::cli {

/// One run a policy, ready to go. Refers to the inputs, which outlive it.
struct RunPlan {
  RunPlan(const SimulateOptions& options, const SimulateInputs& inputs,
          const std::vector<policy::Composition>& policies);
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  profile::PmScores ideal;
  std::vector<profile::LocalityPenalties> penalties;
  std::vector<engine::BatchRun> runs;  ///< add observers before running them
};

/// Folder of one run's files; composition names hold '+', which every file system takes.
[[nodiscard]] std::string run_folder(const std::string& out, const std::string& policy);

/// Runs all policies and writes the files that the options ask for, but for the report: `html` only
/// watches. Errors: those of simulate and of writing.
[[nodiscard]] base::Result<FinishedRuns> run_policies(
    const SimulateOptions& options, const SimulateInputs& inputs,
    const std::vector<policy::Composition>& policies, SimulateHtml& html);

}  // namespace goban::cli
