// What more devices bring: speed, efficiency and accuracy side by side, with a batch that grows
// with the devices (weak) and with one that does not (strong).
#pragma once

#include <string>
#include <vector>

#include "train/trainer/trials.hpp"

namespace goban::train::trainer {

struct ScalingOptions {
  TrainOptions train;  ///< batch_size and optimizer.scale are set for each run
  std::vector<int> ranks = {1, 2, 4};
  int64_t device_batch = 100;
  /// Learning rate of a batch, relative to that of one device's batch.
  LrScale rule = LrScale::Linear;
  int64_t warmup_steps = 0;  ///< of batches larger than one device's
  int seeds = 3;
  double tolerance = 0.005;    ///< of the best accuracy, for the largest batch
  double target_accuracy = 0;  ///< for steps to accuracy; 0: the best mean less the tolerance
};

/// One number of ranks with one global batch.
struct ScalingRow {
  int ranks = 1;
  int64_t batch = 0;  ///< global
  bool weak = true;   ///< the batch grew with the ranks
  std::vector<Trial> trials;
};

struct ScalingResult {
  std::vector<ScalingRow> rows;  ///< weak ones first; by ranks
  double target_accuracy = 0;
  size_t best = 0;  ///< row with the best mean accuracy
  /// Row with the largest batch whose mean accuracy is within the tolerance of the best.
  size_t largest = 0;
};

/// Errors: those of the runner; Usage, for a batch that the ranks do not divide.
[[nodiscard]] base::Result<ScalingResult> measure_scaling(const TrialRunner& run,
                                                          const ScalingOptions& options);

/// Speed of a row / (speed of the first row of its kind x ranks / its ranks).
[[nodiscard]] double efficiency_of(const ScalingResult& result, const ScalingRow& row);

[[nodiscard]] std::string scaling_text(const ScalingResult& result, const ScalingOptions& options);
[[nodiscard]] std::string scaling_json(const ScalingResult& result, const ScalingOptions& options);

}  // namespace goban::train::trainer
