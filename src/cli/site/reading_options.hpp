// The options of every command that reads accounting records.
#pragma once

#include "cli/shell/options.hpp"
#include "site/records/record_reader.hpp"

namespace goban::cli {

/// --format, --procs-per-gpu, --zone, --gpu-resource, --ru-wallclock, --gpus-per-node.
void add_reading_options(Command& c, site::records::ReadOptions& reading);

}  // namespace goban::cli
