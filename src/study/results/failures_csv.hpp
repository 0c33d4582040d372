// Job failures on shared GPUs in a run, as a CSV.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// One row per failure: at_s,job_id,model,beside_job_ids,beside_models,out_of_memory (yes or no).
/// Lists are separated by spaces; fillers are identified by their number. Errors: Failed if the
/// file cannot be written.
[[nodiscard]] base::Status write_failures_csv(const std::string& path,
                                              const core::model::JobHistory& history,
                                              const simulator::SimulationResult& result);

}  // namespace goban::study::results
