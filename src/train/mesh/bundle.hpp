// Bundling of sums: one message for many small ones, such as the gradients of a model.
#pragma once

#include "train/mesh/plan.hpp"

namespace goban::train::mesh {

/// Moves all-reduces of the plan forward to the first one over the same axes that follows the
/// computation of their values, if no step in between uses the values. The bytes sent stay the
/// same; the number of messages falls.
void bundle_reductions(const Graph& graph, Plan& plan);

}  // namespace goban::train::mesh
