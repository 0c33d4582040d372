// PM scores of a made-up cluster, for demonstrations and studies where nobody measured any.
#pragma once

#include <cstdint>
#include <vector>

namespace goban::core::knowledge {

/// How GPUs differ. The defaults have the shape that PAL reports of its V100 cluster by per-GPU
/// medians: compute-bound applications differ most, memory-bound ones hardly at all.
struct SyntheticScores {
  uint32_t num_gpus = 64;
  uint64_t seed = 1;
  /// Standard deviation of ln(score), by class from A on.
  std::vector<double> sigma_by_class = {0.045, 0.015, 0.015, 0.003};
  /// This share of the GPUs is slower by `straggler_slowdown` for class A (for the others in
  /// proportion to their sigma).
  double straggler_share = 0.02;
  double straggler_slowdown = 1.4;
};

/// Raw scores by class and GPU; the median of each class is near 1. A GPU that is slow for one
/// class is slow for the others: one draw a GPU.
[[nodiscard]] std::vector<std::vector<double>> synthetic_scores(const SyntheticScores& options);

}  // namespace goban::core::knowledge
