// Tiers of a store: as sampled, means of hours, gone. By months of UTC.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "site/series/metric.hpp"

namespace goban::site::series {

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
/// sample at its middle. A value stands for the step of its block, whatever the steps of others
/// are; if values cover less than half of the hour: not available or stale if one sample was that,
/// else missing. What is hourly or coarser already stays as it is, also beside what was imported
/// later. A file is replaced as a whole, so a prune that was cut short can be repeated. Readers
/// that have the store open keep what they saw. Errors: Failed (I/O, or an import is writing),
/// BadData (a file of another format).
[[nodiscard]] base::Result<PruneCounts> prune(const std::string& store, Metric metric,
                                              const PruneOptions& options);

}  // namespace goban::site::series
