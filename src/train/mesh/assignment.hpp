// Changes of variables at the end of a step.
#pragma once

#include <cstdint>
#include <optional>

namespace goban::train::mesh {

/// Mesh TensorFlow's AdamW, without bias correction: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2)
/// g^2, w -= rate (m / (sqrt(v) + epsilon) + decay w).
struct AdamRule {
  int32_t first = -1, second = -1;  ///< the variables m and v, in fp32 and of w's shape
  double rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;
  int32_t factor = -1;  ///< node of a scalar on the rate; -1: none
};

/// The change of one variable at the end of a step: the value of node `value` replaces it; or
/// `factor` times the value is subtracted; or the value is the gradient of an AdamW update.
struct Assignment {
  int32_t variable;
  int32_t value;
  bool subtract;
  double factor = 1;
  std::optional<AdamRule> adam = {};
  bool always = false;  ///< also in a step whose gate is closed (ProgramOptions::gate)
};

}  // namespace goban::train::mesh
