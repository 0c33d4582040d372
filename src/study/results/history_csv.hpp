// A simulated run as a job history that can be replayed: generic CSV with what happened.
#pragma once

#include <string>

#include "base/result.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Writes the history with start_time (first start), end_time and state as the run had them, so
/// that a back-test against it has no error. `cluster` names the resource types. Array tasks are
/// written one by one: their bound on running tasks is lost. Errors: Failed if it cannot be
/// written.
[[nodiscard]] base::Status write_history_csv(const std::string& path,
                                             const core::model::JobHistory& history,
                                             const core::model::Cluster& cluster,
                                             const simulator::SimulationResult& result);

}  // namespace goban::study::results
