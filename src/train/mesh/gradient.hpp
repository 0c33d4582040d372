// Gradients as more graph: so they are checked, explained and laid out like everything else.
#pragma once

#include <vector>

#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

/// d(loss)/d(x) for every x, in the order asked. `loss` is a scalar; an x it does not depend on
/// gets zeros. Maxima give their gradient to all ties. Blocks made by Graph::recompute are
/// computed again instead of being kept. Errors: GraphError, if `loss` is no scalar.
[[nodiscard]] std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& xs);

}  // namespace goban::train::mesh
