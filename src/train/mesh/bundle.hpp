// Sums that are formed together: one message for many small ones, as the gradients of a model.
#pragma once

#include "train/mesh/plan.hpp"

namespace goban::train::mesh {

/// Moves all-reduces of the plan forward to the first one over the same axes that comes after their
/// values are there, if nothing uses these in between. What is sent stays the same; there are fewer
/// waits for the other devices.
void bundle_reductions(const Graph& graph, Plan& plan);

}  // namespace goban::train::mesh
