// Synthetic PM scores, for demonstrations and studies without measurements.
#pragma once

#include <cstdint>
#include <vector>

namespace goban::core::knowledge {

/// Distribution of the scores. The defaults resemble the per-GPU medians that PAL reports for its
/// V100 cluster: compute-bound applications vary most, memory-bound ones hardly at all.
struct SyntheticScores {
  uint32_t num_gpus = 64;
  uint64_t seed = 1;
  /// Standard deviation of ln(score), by class from A on.
  std::vector<double> sigma_by_class = {0.045, 0.015, 0.015, 0.003};
  /// This share of the GPUs is slower by `straggler_slowdown` for class A, and for other classes in
  /// proportion to their sigma.
  double straggler_share = 0.02;
  double straggler_slowdown = 1.4;
};

/// Raw scores by class and GPU; the median of each class is near 1. There is one draw per GPU, so a
/// GPU that is slow for one class is slow for all.
[[nodiscard]] std::vector<std::vector<double>> synthetic_scores(const SyntheticScores& options);

}  // namespace goban::core::knowledge
