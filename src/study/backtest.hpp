// The part of `goban simulate` that asks how far to believe it: --backtest and --warmup.
#pragma once

#include <string>
#include <vector>

#include "cli/shell/options.hpp"
#include "cli/study/simulate_options.hpp"
#include "cli/study/simulate_runs.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::cli {

/// Declares --backtest and --warmup.
void add_backtest_options(Command& command, SimulateOptions& options);

/// Puts the policy that --backtest names in front of the others if it is not among them.
void add_site_policy(SimulateOptions& options);

/// Gains of the runs against the site's policy, with the back-test if one was asked for.
/// Errors: BadData if no job with a recorded start is left to compare with.
[[nodiscard]] base::Result<study::results::Comparison> compare_runs(const SimulateOptions& options,
                                                                    const SimulateInputs& inputs,
                                                                    const FinishedRuns& runs);

}  // namespace goban::cli
