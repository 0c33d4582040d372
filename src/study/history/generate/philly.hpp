// A synthetic history like that of Microsoft's Philly cluster, calibrated on aggregates of its
// published trace (philly/facts.hpp). docs/traces.md describes what it reproduces and what not.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "study/history/generate/output.hpp"

namespace goban::study::history {

struct PhillyOptions {
  static constexpr int64_t kJobsMax = 25'000'000;
  uint64_t seed = 1;
  /// Attempts in 75 days; 0 = as many as in the trace (151,816).
  int64_t num_jobs = 0;
  /// Only the first days are written; 0 = all 75.
  int32_t days = 0;
};

/// Writes a generic CSV, in pieces of about 1 MiB: one record per attempt, with the virtual cluster
/// as `account`, and a column `state` (COMPLETED, CANCELLED, FAILED). Errors: Usage if an option is
/// out of range. Cost: about 0.8 microseconds and 45 bytes of memory per job.
[[nodiscard]] base::Status generate_philly(const PhillyOptions& options, const TextSink& sink,
                                           const WorkProgress& progress = {});

}  // namespace goban::study::history
