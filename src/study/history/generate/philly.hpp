// A synthetic history like Microsoft's Philly cluster, calibrated on aggregates of its published
// trace (philly/facts.hpp). What it reproduces and what not is in docs/traces.md.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "study/history/generate/output.hpp"

namespace goban::study::history {

struct PhillyOptions {
  static constexpr int64_t kJobsMax = 25'000'000;
  uint64_t seed = 1;
  /// Attempts in 75 days; 0 = as many as the trace has (151,816).
  int64_t num_jobs = 0;
  /// Only the first days are written; 0 = all 75.
  int32_t days = 0;
};

/// Writes a generic CSV, in pieces of about 1 MiB: a record an attempt, the virtual cluster as
/// `account`, and a column `state` (COMPLETED, CANCELLED, FAILED). Errors: Usage if an option makes
/// no sense. Cost: about 0.8 microseconds and 45 bytes of memory a job.
[[nodiscard]] base::Status generate_philly(const PhillyOptions& options, const TextSink& sink,
                                           const WorkProgress& progress = {});

}  // namespace goban::study::history
