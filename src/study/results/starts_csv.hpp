// Forecasts of start times in a run, and the starts, as a CSV.
#pragma once

#include <string>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "study/simulator/start_observer.hpp"

namespace goban::study::results {

/// One row per forecast job that started: job_id,made_s,p10_s,p50_s,p90_s,raw_p10_s,raw_p50_s,
/// raw_p90_s,calibrated (yes or no),start_s. An empty field lies beyond what was looked ahead.
/// Errors: Failed if the file cannot be written.
[[nodiscard]] base::Status write_starts_csv(const std::string& path,
                                            const core::model::JobHistory& history,
                                            const std::vector<simulator::ForecastStart>& starts);

}  // namespace goban::study::results
