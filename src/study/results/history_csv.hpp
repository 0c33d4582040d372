// A simulated run as a job history that can be replayed: generic CSV with the simulated times.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Writes the history with the start_time (first start), end_time and state of the run, so that a
/// back-test against it has no error. `cluster` names the resource types. Array tasks are written
/// as separate jobs, without the array's limit on running tasks. Errors: Failed if the file cannot
/// be written.
[[nodiscard]] base::Status write_history_csv(const std::string& path,
                                             const core::model::JobHistory& history,
                                             const core::model::Cluster& cluster,
                                             const simulator::SimulationResult& result);

}  // namespace goban::study::results
