// What `goban simulate` gives out: JSON, the comparison table, per-job CSV.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/run_metrics.hpp"

namespace goban::report {

/// The document {"runs": [...]}; numbers in the shortest form that reads back equal.
[[nodiscard]] std::string simulate_json(const std::vector<RunMetrics>& runs);

/// A table for a terminal: one row a run, average JCT also as a ratio to the first run's.
[[nodiscard]] std::string comparison_table(const std::vector<RunMetrics>& runs);

/// For people: whom each policy served worst; empty if the jobs have neither accounts nor users.
[[nodiscard]] std::string worst_account_lines(const std::vector<RunMetrics>& runs);

/// Writes job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions. The file appears
/// whole or not at all. Errors: Failed if it cannot be written.
[[nodiscard]] base::Status write_jobs_csv(const std::string& path, const model::JobHistory& history,
                                          const engine::SimulationResult& result);

}  // namespace goban::report
