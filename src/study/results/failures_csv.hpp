// Who broke beside whom in a run, as a CSV.
#pragma once

#include <string>

#include "base/result.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// A row a breakage: at_s,job_id,model,beside_job_ids,beside_models,out_of_memory (yes or no);
/// lists are separated by blanks, fillers are named by their number. Errors: Failed if it cannot be
/// written.
[[nodiscard]] base::Status write_failures_csv(const std::string& path,
                                              const core::model::JobHistory& history,
                                              const simulator::SimulationResult& result);

}  // namespace goban::study::results
