// Writes a history as CSV in the format `generic`, for other tools.
#pragma once

#include <functional>
#include <string_view>

#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::history {

/// Writes the history in pieces of about 1 MiB to `sink`. Read back it is the same history: jobs in
/// submit order, arrays as arrays, times to the nanosecond. Columns that no job fills are omitted.
/// The tasks of an array share one record; the first one's is written. `cluster`: the one for which
/// the history was read; needed only if jobs have resource types.
void write_generic(const core::model::JobHistory& history, const core::model::Cluster* cluster,
                   const std::function<void(std::string_view)>& sink);

/// The same with the times of a simulated run, `recorded(job index)`, in place of the recorded
/// ones. The tasks of arrays are jobs of their own, as each has its own times.
void write_run(const core::model::JobHistory& history, const core::model::Cluster* cluster,
               const std::function<core::model::Recorded(size_t)>& recorded,
               const std::function<void(std::string_view)>& sink);

}  // namespace goban::study::history
