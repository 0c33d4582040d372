// Operations that take functions: user-defined kernels and gradients, loops, and printing of values
// while a step runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/mesh/ops.hpp"

namespace at {
class Tensor;
}

namespace goban::train::mesh {

/// A user-defined kernel, run on every device's slices.
struct SlicewiseFunction {
  std::string name = "slicewise";
  /// Dimensions along which the kernel may run on slices. Each must be in an input and in the
  /// output.
  std::vector<std::string> splittable;
  /// Returns this device's slice of the output from its slices of the inputs, which it must not
  /// modify.
  std::function<at::Tensor(const std::vector<at::Tensor>& slices)> local;
  GradientFunction gradient;  ///< empty: no gradient flows to the inputs
};
/// Errors: GraphError, for a splittable dimension that an input or the output lacks.
Tensor slicewise(const std::vector<Tensor>& inputs, const Shape& output, DType dtype,
                 SlicewiseFunction function);

/// The value of `y`. Its gradient with respect to `xs` is computed by `gradient`.
Tensor custom_gradient(const std::vector<Tensor>& xs, Tensor y, GradientFunction gradient);

/// Returns x. When it is computed, every device with a distinct slice writes a line to stderr:
/// message, rank, position of the slice, minimum, mean, maximum, and the first elements. A pending
/// sum is completed first.
Tensor print(Tensor x, const std::string& message, int64_t first = 6);

/// Returns x, a scalar, and registers it in Graph::summaries under `name` with the scopes as
/// prefix. Programs that fetch it get its value at each step (`goban-train --summaries` writes
/// means to its metrics); other programs do not compute it. Not allowed in a loop's body: return
/// the value from the loop instead. Errors: GraphError, if x is not a scalar, or the name has
/// characters other than letters, digits, _ . - and /.
Tensor scalar_summary(const std::string& name, Tensor x);

/// A loop. Condition and body are nodes of a separate graph.
struct Loop {
  std::shared_ptr<Graph> graph;
  std::vector<NodeId> states;  ///< Input nodes
  NodeId going = -1;           ///< scalar condition: iterate while it is not 0
  std::vector<NodeId> next;    ///< next value of each state, then the addend of each accumulator
  size_t accumulators = 0;
  int64_t expected_turns = 1;
};
/// Runs `body` (states in, next states of the same shapes and types out) while `going` of the
/// states is not 0; returns the last states. Both functions may use the states only: pass other
/// values as states. Every device runs the same number of iterations. Random numbers differ between
/// iterations. Bytes and FLOPs are predicted for `expected_turns` iterations. Requesting a gradient
/// through the loop is a GraphError: write a fixed number of iterations as a loop in C++, or use
/// custom_gradient or stop_gradient.
///
/// The last `accumulators` values of the body are not states: each is summed over the iterations
/// (zeros without any) and returned after the states. Sums over split dimensions stay pending:
/// devices add up their own slices and communicate once, after the loop.
std::vector<Tensor> while_loop(
    const std::vector<Tensor>& states,
    const std::function<Tensor(const std::vector<Tensor>&)>& going,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body,
    int64_t expected_turns = 1, size_t accumulators = 0);

/// Returns x, computed after all of `after`, which are computed even if nothing else uses them (so
/// that prints take effect). Its gradient flows to x.
Tensor depend(Tensor x, const std::vector<Tensor>& after);

}  // namespace goban::train::mesh
