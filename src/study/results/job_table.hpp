// The jobs of a report document, column by column.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Maximum number of jobs in a table: 100,000 with up to six policies, at least 20,000 with any
/// number.
[[nodiscard]] size_t table_jobs_max(size_t runs);

/// Unit of the times in the table, in nanoseconds: a power of ten of at least 1 ms, at least 1 s in
/// large tables, such that `span_ns` fits into 32 bits.
[[nodiscard]] base::TimeNs table_tick_ns(base::TimeNs span_ns, size_t jobs, size_t runs);

/// The member "table" of the document as JSON text. If there are more than `jobs_max` jobs, every
/// k-th in submit order is taken.
[[nodiscard]] std::string job_table_json(
    const core::model::JobHistory& history,
    const std::vector<const simulator::SimulationResult*>& results, size_t jobs_max);

}  // namespace goban::study::results
