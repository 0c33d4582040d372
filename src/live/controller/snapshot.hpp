// Snapshots: the complete state of a controller as one line of JSON, and back.
#pragma once

#include <string>
#include <string_view>

#include "live/controller/clusters.hpp"
#include "live/controller/pilots.hpp"

namespace goban::live::controller {

/// The parts of a controller that a snapshot holds.
struct SnapshotParts {
  TimeNs& clock_ns;
  TimeNs& next_forget_ns;
  JobBook& book;
  DecisionCore& core;
  PowerLimits& limits;
  Observation& observation;
  Forecasts& forecasts;
  Runs& runs;
  Staging& staging;
  Jobs& jobs;
  Nodes& nodes;
  Clusters& clusters;
  Pilots& pilots;
};

[[nodiscard]] std::string write_snapshot(const SnapshotParts& parts);
/// Reads into newly constructed parts. Errors: BadData if the snapshot is of another cluster or a
/// newer version, or does not fit the policies.
[[nodiscard]] base::Status read_snapshot(std::string_view text, const SnapshotParts& parts);

}  // namespace goban::live::controller
