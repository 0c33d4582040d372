// Ageing of a store: as sampled, then hourly means, then removed. By UTC month.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "site/series/metric.hpp"

namespace goban::site::series {

struct PruneOptions {
  int64_t drop_before_ms = INT64_MIN;    ///< months that begin earlier are removed
  int64_t hourly_before_ms = INT64_MIN;  ///< months that begin earlier become hourly
};

struct PruneCounts {
  uint64_t months_dropped = 0;
  uint64_t months_reduced = 0;
  uint64_t bytes_before = 0;  ///< of the changed files
  uint64_t bytes_after = 0;
  uint64_t damaged_blocks = 0;  ///< skipped: their samples become missing
};

/// Reduces a metric's old months. The mean of each clock hour is kept as one sample at its middle.
/// A value stands for the step of its block, whatever the steps of other blocks are. If values
/// cover less than half of the hour, the hour is not available or stale if any sample was,
/// otherwise missing. Samples that are hourly or coarser are kept unchanged, also where others were
/// imported later. A file is replaced atomically, so an interrupted prune can be repeated. Readers
/// that have the store open keep their view. Errors: Failed (I/O, or an import is in progress),
/// BadData (a file of another format).
[[nodiscard]] base::Result<PruneCounts> prune(const std::string& store, Metric metric,
                                              const PruneOptions& options);

}  // namespace goban::site::series
