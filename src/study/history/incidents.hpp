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
#include "study/history/outages.hpp"

namespace goban::study::history {

/// What a file states, before outages of a node are merged with those of other sources.
struct Incidents {
  NodeOutages outages;
  std::vector<core::model::Event> job_failures;  ///< JobBroke, for jobs of the history

  /// Events by time: those of outage_events, and the failures of jobs.
  [[nodiscard]] std::vector<core::model::Event> events() const;
};

/// Reads a file, plain or gzip. Errors: Failed if it cannot be read, else as parse_incidents.
[[nodiscard]] base::Result<Incidents> read_incidents(const std::string& path,
                                                     const core::model::Cluster& cluster,
                                                     const core::model::JobHistory& history);

/// The events of a file's text. Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<std::vector<core::model::Event>> parse_incidents(
    std::string_view toml, const std::string& file, const core::model::Cluster& cluster,
    const core::model::JobHistory& history);

}  // namespace goban::study::history
