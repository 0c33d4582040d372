// The options of every command that reads accounting records, and the limit on rejected ones.
#pragma once

#include "cli/shell/options.hpp"
#include "site/records/record_reader.hpp"

namespace goban::cli {

/// --format, --procs-per-gpu, --zone, --gpu-resource, --ru-wallclock, --gpus-per-node.
void add_reading_options(Command& c, site::records::ReadOptions& reading);

/// --max-rejects: percent of the records that may be rejected. Beyond it the command writes its
/// results all the same, and ends with exit code 3 (site/records/reject_limit.hpp).
void add_max_rejects(Command& c, double& max_rejects_pct);

}  // namespace goban::cli
