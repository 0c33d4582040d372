// The table of goban queue.
#pragma once

#include <string>
#include <vector>

#include "cli/jobs/job_row.hpp"

namespace goban::cli {

/// Running jobs first, then the others by number; a last line counts them.
[[nodiscard]] std::string queue_table(std::vector<JobRow> jobs, double now_s);
/// The state, or the result of a finished job: "running", "completed".
[[nodiscard]] std::string state_text(const JobRow& job);

}  // namespace goban::cli
