// Optimisers as graph: their slots are variables that are split as the parameter is.
#pragma once

#include <string>
#include <vector>

#include "train/mesh/layers.hpp"

namespace goban::train::mesh {

struct OptimizerOptions {
  enum class Kind : uint8_t { Sgd, Momentum, AdamW, Adafactor } kind = Kind::Adafactor;
  /// Adafactor: 0 = min(1/sqrt(step+1), 0.01), relative to the parameter's size.
  double learning_rate = 0;
  double scale = 1;  ///< of the learning rate, such as for a larger batch
  /// Adafactor's schedule counts steps times this: batch / B makes the schedule of every batch size
  /// that of batch size B, by samples seen.
  double schedule_scale = 1;
  double momentum = 0.9;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;  ///< AdamW, without bias correction
  double weight_decay = 0;
  std::string no_decay = "(^|/)(bias|scale)$";  ///< regular expression on names
  double clip_rms = 1.0;                        ///< Adafactor
  int64_t factor_from = 128;  ///< Adafactor factors over two dimensions at least that large
};

/// Assigns every parameter its next value from its gradient (same order, any type; computed in
/// fp32) and counts steps in the int64 variable "step". Slots are called `parameter/slot`.
void add_updates(Graph& graph, const std::vector<Parameter>& parameters,
                 const std::vector<Tensor>& gradients, const OptimizerOptions& options);

}  // namespace goban::train::mesh
