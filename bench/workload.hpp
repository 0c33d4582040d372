// Seeded workloads for the benchmarks.
#pragma once

#include <cstdint>
#include <string>

#include "model/cluster.hpp"
#include "model/job.hpp"
#include "profile/pm_scores.hpp"

namespace goban::bench {

struct WorkloadShape {
  uint64_t jobs = 0;
  double horizon_s = 86400;        ///< submit times are uniform over it, in whole seconds
  double mean_duration_s = 1800;   ///< exponential, in whole seconds
  uint32_t size_max_log2 = 3;      ///< GPUs are 1, 2, 4, ... with equal probability
  uint64_t seed = 1;
};

[[nodiscard]] model::JobHistory make_history(const WorkloadShape& shape);
/// The same as a file in the generic CSV format.
void write_generic_csv(const model::JobHistory& history, const std::string& path);

/// Three classes, six bins each, drawn independently for every GPU.
[[nodiscard]] profile::PmScores make_scores(const model::Cluster& cluster, uint64_t seed);

}  // namespace goban::bench
