// The executor's operations that call functions: user kernels, loops, printing.
#include <ATen/ops/add.h>
#include <ATen/ops/zeros.h>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "train/mesh/executor.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/kernels.hpp"

namespace goban::train::mesh {

at::Tensor Executor::slicewise(const Step& step, const std::vector<at::Tensor>& slices) const {
  const Node& of = node(step.node);
  const at::Tensor out = of.attributes.slicewise->local(slices);
  if (out.sizes() == at::IntArrayRef(step.local) &&
      out.scalar_type() == stored_type(of.dtype, variables_.device())) {
    return out;
  }
  throw ExecutionStopped{
      {base::ErrorCode::Failed,
       fmt::format(
           "operation '{}': the kernel returned {} of shape {}, expected a slice {} of {} {}",
           of.name, c10::toString(out.scalar_type()), out.sizes().vec(), step.local,
           dtype_name(of.dtype), of.shape.text()),
       {},
       "a slicewise kernel must return its slice of the output, in the type of the output"}};
}

void Executor::print(const Step& step, const Prepared& prepared, const at::Tensor& x) const {
  // Of several devices with the same slice, only the first prints.
  for (size_t axis = 0; axis < plan_.mesh.axes().size(); ++axis) {
    const bool splits = (axes_of(step.layout) >> axis & 1U) != 0;
    if (!splits && plan_.mesh.coordinate(plan_.rank, axis) != 0) return;
  }
  const Node& of = node(step.node);
  std::vector<std::string> part;
  for (size_t i = 0; i < of.shape.rank(); ++i) {
    part.push_back(fmt::format("{} {}..{}", of.shape[i].name, prepared.begin[i],
                               prepared.begin[i] + step.local[i] - 1));
  }
  const at::Tensor flat = x.to(at::kCPU, at::kDouble).reshape({-1}).contiguous();
  const auto* values = flat.data_ptr<double>();
  const auto shown = std::min<int64_t>(flat.numel(), of.attributes.count);
  fmt::print(stderr, "{}: rank {} [{}] {} min {:.6g} mean {:.6g} max {:.6g}: {:.6g}{}\n",
             of.attributes.message, plan_.rank, fmt::join(part, ", "), dtype_name(of.dtype),
             flat.min().item<double>(), flat.mean().item<double>(), flat.max().item<double>(),
             fmt::join(values, values + shown, " "), shown < flat.numel() ? " ..." : "");
}

std::vector<at::Tensor> Executor::pass(const std::vector<NodeId>& inputs,
                                       const std::vector<at::Tensor>& slices,
                                       const std::vector<NodeId>& wanted, uint64_t step) {
  fed_slices_ = true;
  for (size_t i = 0; i < inputs.size(); ++i) value(inputs[i]) = slices[i];
  run_outer({}, step);
  std::vector<at::Tensor> out;
  for (const NodeId id : wanted) out.push_back(value(id));
  clear();
  return out;
}

at::Tensor Executor::run_loop(const Step& step, const Prepared& prepared,
                              std::vector<at::Tensor> states, uint64_t step_number) {
  const Loop& loop = *node(step.node).attributes.loop;
  std::vector<at::Tensor> sums;
  // The condition has the same bits on every device, so all leave the loop at the same iteration.
  for (uint64_t turn = 0;; ++turn) {
    const uint64_t number =
        (step_number << 20U) + turn;  // so that random numbers differ between iterations
    const at::Tensor going =
        prepared.going->pass(loop.states, states, {loop.going}, number).front();
    if (going.item<double>() == 0) break;
    std::vector<at::Tensor> next = prepared.body->pass(loop.states, states, loop.next, number);
    for (size_t i = 0; i < loop.accumulators; ++i) {
      const at::Tensor& part = next[loop.states.size() + i];
      if (turn == 0) {
        sums.push_back(part);
      } else if (turn == 1) {
        sums[i] = at::add(sums[i], part);  // the first part may be shared with a state
      } else {
        sums[i].add_(part);
      }
    }
    next.resize(loop.states.size());
    states = std::move(next);
  }
  for (size_t i = sums.size(); i < loop.accumulators; ++i) {
    const Node& of = loop.graph->node(loop.next[loop.states.size() + i]);
    const std::vector<int64_t> local =
        local_sizes(of.shape, plan_.rules.layout_of(of.shape, plan_.mesh), plan_.mesh);
    sums.push_back(at::zeros(local, at::TensorOptions()
                                        .dtype(stored_type(of.dtype, variables_.device()))
                                        .device(variables_.device())));
  }
  const at::Tensor first = states.front();
  states.insert(states.end(), sums.begin(), sums.end());
  loop_values_[step.node] = std::move(states);
  return first;
}

}  // namespace goban::train::mesh
