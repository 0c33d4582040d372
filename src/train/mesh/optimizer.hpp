// Optimisers as graph nodes. Their slots are variables that are split like the parameter.
#pragma once

#include <string>
#include <vector>

#include "train/mesh/layers.hpp"

namespace goban::train::mesh {

struct OptimizerOptions {
  enum class Kind : uint8_t { Sgd, Momentum, AdamW, Adafactor } kind = Kind::Adafactor;
  /// Adafactor: 0 = min(1/sqrt(step+1), 0.01), relative to the parameter's size.
  double learning_rate = 0;
  double scale = 1;  ///< factor on the learning rate, such as for a larger batch
  /// Factor on the step count of Adafactor's schedule: batch / B gives every batch size the
  /// schedule of batch size B, by samples seen.
  double schedule_scale = 1;
  int64_t warmup_steps = 0;  ///< the rate grows linearly from 0 over these steps
  double momentum = 0.9;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;  ///< AdamW, without bias correction
  double weight_decay = 0;
  std::string no_decay = "(^|/)(bias|scale)$";  ///< regular expression on names
  double clip_rms = 1.0;                        ///< Adafactor
  int64_t factor_from = 128;  ///< Adafactor factors over two dimensions at least that large
};

/// Assigns every parameter its next value from its gradient (same order, any type; computed in
/// fp32) and counts steps in the int64 variable "step". Slots are named `parameter/slot`.
void add_updates(Graph& graph, const std::vector<Parameter>& parameters,
                 const std::vector<Tensor>& gradients, const OptimizerOptions& options);

}  // namespace goban::train::mesh
