// Node failures, maintenance windows and job failures, from a TOML file, as events for the core.
// Times are relative to the zero of the job history.
//
//   [[failure]]
//   nodes = ["g0001", "g0100..g0133"]   # names, ranges in the order of the cluster, or "*"
//   at = "3600s"
//   repair_after = "2h"                 # if omitted, the node never returns
//
//   [[maintenance]]
//   node = "g0007"                      # the same as nodes = ["g0007"]
//   announce = "0s"                     # from then on no job may run into it; default 0
//   start = "24h"
//   end = "30h"
//
//   [[job_failure]]
//   job = "4711"                        # ignored unless it runs then; it starts again later
//   at = "3600s"
//   reason = "out of memory"            # or "crash" (default)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/event.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::history {

/// Reads a file, plain or gzip. Errors: Failed if it cannot be read, else as parse_incidents.
[[nodiscard]] base::Result<std::vector<core::model::Event>> read_incidents(
    const std::string& path, const core::model::Cluster& cluster,
    const core::model::JobHistory& history);

/// Events by time: NodeLost (failure), NodeClosed (maintenance starts), NodeRestored, NodeDrained
/// (the next window is known). Where incidents of a node overlap, it goes down once, at the start
/// of the first, and returns once, at the end of the last. A window is announced again after each
/// return, since a returning node has lost it. JobBroke, for jobs of the history.
/// Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<std::vector<core::model::Event>> parse_incidents(
    std::string_view toml, const std::string& file, const core::model::Cluster& cluster,
    const core::model::JobHistory& history);

}  // namespace goban::study::history
