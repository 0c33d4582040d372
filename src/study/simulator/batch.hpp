// Runs several policies over one history on threads. Results do not depend on the number of
// threads: every run has its own state and seed.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

/// One run of a batch; each has its own observer, if any.
struct BatchRun {
  core::policy::Composition composition;
  core::policy::SpeedModel speed;
  SimulationOptions options;
};

struct BatchResult {
  SimulationResult simulation;
  double wall_s = 0;
};

/// Runs all, at most `threads` at a time, and returns the results in the order of `runs`.
/// Errors: that of the first run (in order) that failed.
[[nodiscard]] base::Result<std::vector<BatchResult>> simulate_all(
    const core::model::JobHistory& history, const std::vector<BatchRun>& runs, size_t threads);

}  // namespace goban::study::simulator
