// Microsoft's Philly traces: `cluster_gpu_util`, one row per machine and minute with the
// utilisation of its GPUs: time,machineId,gpu0_util,gpu1_util,...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::series {

/// True if a line looks like the header of such a file.
[[nodiscard]] bool is_philly_util_header(std::string_view line);

/// Reads all rows; `file` denotes the input in messages. Times have a zone (PDT, PST, UTC). A row
/// may have fewer GPUs than the header, or a trailing comma; `NA`: no sample. The n-th GPU of a
/// machine is device n, as in Philly's job log. `metrics`: empty = all. Errors: I/O, damaged gzip;
/// BadData if there is no header.
[[nodiscard]] base::Status read_philly_util(base::ByteSource& source, const std::string& file,
                                            const std::vector<Metric>& metrics, Intake& intake);

}  // namespace goban::site::series
