// Tiers of a store: as sampled, means of hours, gone. By months of UTC.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "series/metric.hpp"

namespace goban::series {

struct PruneOptions {
  int64_t drop_before_ms = INT64_MIN;    ///< months that begin before are removed
  int64_t hourly_before_ms = INT64_MIN;  ///< months that begin before become hourly
};

struct PruneCounts {
  uint64_t months_dropped = 0;
  uint64_t months_reduced = 0;
  uint64_t bytes_before = 0;  ///< of the files that were changed
  uint64_t bytes_after = 0;
  uint64_t damaged_blocks = 0;  ///< left out: what they held is missing now
};

/// Makes a metric's old months smaller. Of each clock hour the mean of its values stays, as one
/// sample at its middle; if less than half of its samples are values: not available or stale if one
/// of them was that, else missing. A file is replaced as a whole, so a prune that was cut short can
/// be repeated; months that are hourly stay as they are. Readers that have the store open keep what
/// they saw. Errors: Failed (I/O, or an import is writing), BadData (a file of another format).
[[nodiscard]] base::Result<PruneCounts> prune(const std::string& store, Metric metric,
                                              const PruneOptions& options);

}  // namespace goban::series
