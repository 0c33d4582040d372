// Gradients, built as further nodes of the graph, so they are checked, explained and laid out like
// all others.
#pragma once

#include <vector>

#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

/// d(loss)/d(x) for every x, in the order of `xs`. `loss` is a scalar; an x it does not depend on
/// gets zeros. A maximum passes its gradient to all ties. Blocks made by Graph::recompute are
/// computed again instead of being stored. Errors: GraphError, if `loss` is not a scalar.
[[nodiscard]] std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& xs);

}  // namespace goban::train::mesh
