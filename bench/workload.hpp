// Seeded workloads for the benchmarks.
#pragma once

#include <cstdint>
#include <string>

#include "core/knowledge/pm_scores.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"

namespace goban::bench {

struct WorkloadShape {
  uint64_t jobs = 0;
  double horizon_s = 86400;       ///< submit times are uniform over it, in integer seconds
  double mean_duration_s = 1800;  ///< exponential, in integer seconds
  uint32_t size_max_log2 = 3;     ///< GPUs are 1, 2, 4, ... with equal probability
  uint64_t seed = 1;
};

[[nodiscard]] core::model::JobHistory make_history(const WorkloadShape& shape);
/// Writes the same jobs as a file in the generic CSV format.
void write_generic_csv(const core::model::JobHistory& history, const std::string& path);

/// Three classes with six bins each, drawn independently for every GPU.
[[nodiscard]] core::knowledge::PmScores make_scores(const core::model::Cluster& cluster,
                                                    uint64_t seed);

}  // namespace goban::bench
