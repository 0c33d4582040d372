// Operations that take functions: kernels and gradients of the user's own, loops, and looking at
// values while a step runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/mesh/ops.hpp"

namespace at {
class Tensor;
}

namespace goban::train::mesh {

/// A kernel of the user's, run on every device's slices.
struct SlicewiseFunction {
  std::string name = "slicewise";
  /// Dimensions whose parts the kernel may see one by one; each is in an input and in the output.
  std::vector<std::string> splittable;
  /// This device's slice of the output, from its slices of the inputs. Must not change them.
  std::function<at::Tensor(const std::vector<at::Tensor>& slices)> local;
  GradientFunction gradient;  ///< empty: nothing flows to the inputs
};
/// Errors: GraphError, for a splittable dimension that an input or the output lacks.
Tensor slicewise(const std::vector<Tensor>& inputs, const Shape& output, DType dtype,
                 SlicewiseFunction function);

/// The value of `y`, whose gradient to `xs` is what `gradient` says instead of what y was made by.
Tensor custom_gradient(const std::vector<Tensor>& xs, Tensor y, GradientFunction gradient);

/// x itself. When it is computed, every device that holds a part of its own writes a line to
/// stderr: message, rank, which part, least, mean and largest value, first elements. A pending sum
/// is formed.
Tensor print(Tensor x, const std::string& message, int64_t first = 6);

/// x itself, a scalar; Graph::summaries knows its value by `name` with the scopes before it.
/// Programs that fetch it see it at each step (`goban-train --summaries` writes means to its
/// metrics); nobody else computes it. In a loop's body it is refused: give it out of the loop.
/// Errors: GraphError, if x is no scalar, or the name has others than letters, digits, _ . - and /.
Tensor scalar_summary(const std::string& name, Tensor x);

/// A loop's body is a graph of its own.
struct Loop {
  std::shared_ptr<Graph> graph;
  std::vector<NodeId> states;  ///< Input nodes
  NodeId going = -1;           ///< scalar: another turn if not 0
  std::vector<NodeId> next;    ///< of each state, then what each accumulator is added
  size_t accumulators = 0;
  int64_t expected_turns = 1;
};
/// Runs `body` (states in, next states of the same shapes and types out) while `going` of the
/// states is not 0; gives the last states. Both see the states only: pass what they need as a
/// state. Every device takes the same turns. Random numbers differ between turns. Bytes and FLOPs
/// are predicted for `expected_turns`. Asking for a gradient through it is a GraphError: write a
/// fixed number of turns as a loop in C++, or use custom_gradient or stop_gradient.
///
/// The last `accumulators` values that the body gives are no states: each is summed over the turns
/// (no turn: zeros) and follows the states in what is returned. What is still to be summed over
/// split dimensions stays so: devices add up their own parts and communicate once, after the loop.
std::vector<Tensor> while_loop(
    const std::vector<Tensor>& states,
    const std::function<Tensor(const std::vector<Tensor>&)>& going,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body,
    int64_t expected_turns = 1, size_t accumulators = 0);

/// x itself, computed after all of `after`, which are computed even if nothing else wants them (so
/// what they print is printed). Its gradient goes to x.
Tensor depend(Tensor x, const std::vector<Tensor>& after);

}  // namespace goban::train::mesh
