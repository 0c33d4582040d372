#include "train/mesh/executor.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <algorithm>
#include <fmt/format.h>

#include "base/check.hpp"
#include "train/mesh/adam_kernel.hpp"
#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/device_memory.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/kernels.hpp"

namespace goban::train::mesh {

namespace {

/// Whether an operation computes values, or only moves those of its inputs.
bool rounds(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Transpose:
    case Op::Slice:
    case Op::Pad:
    case Op::Concat:
    case Op::Shift:
    case Op::Gather:
    case Op::OneHot:
    case Op::Broadcast:
    case Op::Halo:
    case Op::Print:
    case Op::LoopValue:
    case Op::CustomGradient:
      return false;
    default:
      return true;
  }
}

}  // namespace

at::Tensor or_stop(base::Result<at::Tensor> result) {
  if (!result) throw ExecutionStopped{std::move(result.error())};
  return std::move(*result);
}

Executor::Executor(Variables& variables, const Graph& graph, const Plan& plan)
    : variables_(variables), graph_(graph), plan_(plan) {
  values_.resize(graph_.size());
  for (const Step& step : plan.steps) prepared_.push_back(prepare(step));
  for (const Collective& message : plan.last_collectives) {
    last_groups_.push_back(plan.mesh.group(plan.rank, message.axes));
  }
}

Executor::Prepared Executor::prepare(const Step& step) const {
  const Node& of = node(step.node);
  Prepared out;
  std::vector<std::string> names;
  const auto label = [&](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto number = static_cast<int>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return number;
  };
  for (const Dim& dim : of.shape.dims()) out.labels.push_back(label(dim.name));
  for (const NodeId input : of.inputs) {
    Labels labels;
    for (const Dim& dim : node(input).shape.dims()) labels.push_back(label(dim.name));
    out.input_labels.push_back(std::move(labels));
  }
  if (of.op == Op::Reduce) {
    const Shape& shape = node(of.inputs[0]).shape;
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (!of.shape.has(shape[i].name)) out.reduced_axes.push_back(static_cast<int64_t>(i));
    }
  }
  out.begin = slice_begin(of.shape, step.layout, plan_.mesh, plan_.rank);
  for (const Collective& message : step.collectives) {
    comm::Group group = plan_.mesh.group(plan_.rank, message.axes);
    if (out.groups.size() < step.complete.size()) {
      out.groups.push_back(std::move(group));
    } else {
      out.group = std::move(group);
    }
  }
  for (const ReshapeStep& move : step.reshape.before) {
    out.reshape_groups.push_back(plan_.mesh.group(plan_.rank, AxisSet{1} << move.mesh_axis));
  }
  if (of.op == Op::Halo) {
    for (const size_t way : {size_t{5}, size_t{4}}) {
      const int along = step.layout[of.shape.rank() - way];
      const AxisSet axes = along == kWhole ? 0 : AxisSet{1} << along;
      out.reshape_groups.push_back(plan_.mesh.group(plan_.rank, axes));
    }
  }
  const std::string& dim = of.attributes.dim;
  const int axis = dim.empty() ? kWhole : plan_.rules.axis_of(dim, plan_.mesh);
  if (axis != kWhole) {
    out.parts = plan_.mesh.axes()[static_cast<size_t>(axis)].size;
    out.coordinate = plan_.mesh.coordinate(plan_.rank, static_cast<size_t>(axis));
  }
  if (step.loop) {
    const Graph& inside = *of.attributes.loop->graph;
    out.going = std::make_shared<Executor>(variables_, inside, step.loop->going);
    out.body = std::make_shared<Executor>(variables_, inside, step.loop->body);
  }
  if (!of.inputs.empty() && node(of.inputs[0]).shape == of.shape) {
    const auto freed = [&](NodeId id) {
      return std::find(step.free_after.begin(), step.free_after.end(), id) != step.free_after.end();
    };
    const bool twice = of.inputs.size() == 2 && of.inputs[0] == of.inputs[1];
    out.reuse_first = freed(of.inputs[0]) && !twice;
  }
  return out;
}

bool Executor::only_here(const at::Tensor& x) const {
  return x.use_count() == 1 && x.storage().use_count() == 1 && x.is_non_overlapping_and_dense();
}

void Executor::run_inner(const Feeds& feeds, uint64_t step, size_t index) {
  micro_batch_ = index;
  for (size_t at = 0; at < plan_.steps.size() && plan_.steps[at].inner; ++at) {
    run_step(at, feeds, step * 1'000 + index);
  }
}

void Executor::run_outer(const Feeds& feeds, uint64_t step) {
  next_sending_ = 0;
  for (size_t at = 0; at < plan_.steps.size(); ++at) {
    if (!plan_.steps[at].inner) run_step(at, feeds, step * 1'000);
  }
  for (size_t i = 0; i < plan_.completed_last.size(); ++i) {
    complete(plan_.completed_last[i], plan_.last_together[i], last_groups_[i]);
  }
  receive_before(plan_.steps.size());
}

void Executor::run_step(size_t at, const Feeds& feeds, uint64_t step_number) {
  current_ = at;
  const Step& step = plan_.steps[at];
  for (size_t i = 0; i < step.complete.size(); ++i) {
    complete(step.complete[i], step.together[i], prepared_[at].groups[i]);
  }
  if (!step.inner) receive_before(at);
  if (node(step.node).op == Op::Accumulate && micro_batch_ > 0) {
    at::Tensor& sum = value(step.node);
    const at::Tensor& part = value(node(step.node).inputs[0]);
    if (micro_batch_ > 1) {
      sum.add_(part);
    } else {
      sum = at::add(sum, part);  // the first sum may be shared with its source
    }
  } else {
    value(step.node) = compute(at, feeds, step_number);
    const Node& of = node(step.node);
    if (is_emulated(of.dtype, variables_.device()) && rounds(of.op)) {
      value(step.node) = rounded_to_half(value(step.node));
    }
    // LibTorch silently accepts host scalars in operations on GPU tensors, which is slow.
    GOBAN_CHECK(value(step.node).device() == variables_.device(), "a value is on another device");
  }
  if (!step.inner) send_after(at);
  for (const NodeId gone : step.free_after) {
    value(gone).reset();
    if (!loop_values_.empty()) loop_values_.erase(gone);
  }
}

void Executor::complete(NodeId id, const std::vector<NodeId>& together, const comm::Group& group) {
  const std::vector<NodeId> all = not_sent(id, together);
  if (all.empty()) return;
  const std::string& name = node(all[0]).name;
  if (all.size() == 1 || group.size() == 1) {
    value(all[0]) = or_stop(all_reduced(value(all[0]), group, comm::Reduction::Sum, end(), name));
    return;
  }
  int64_t elements = 0;
  for (const NodeId each : all) elements += value(each).numel();
  at::Tensor message = at::empty({elements}, value(all[0]).options());
  const auto parts = [&](const auto& use) {
    int64_t begin = 0;
    for (const NodeId each : all) {
      at::Tensor& x = value(each);
      use(x, message.narrow(0, begin, x.numel()).view(x.sizes()));
      begin += x.numel();
    }
  };
  parts([](at::Tensor& x, const at::Tensor& part) { part.copy_(x); });
  const std::string what = fmt::format("{} and {} more", name, all.size() - 1);
  // The message is not shared, so it is reduced in place.
  message = or_stop(all_reduced(message, group, comm::Reduction::Sum, end(), what));
  parts([](at::Tensor& x, const at::Tensor& part) { x = part; });
}

at::Tensor Executor::compute(size_t at, const Feeds& feeds, uint64_t step_number) {
  const Step& step = plan_.steps[at];
  const Prepared& prepared = prepared_[at];
  const Node& of = node(step.node);
  const Attributes& a = of.attributes;
  const at::ScalarType type = stored_type(of.dtype, variables_.device());
  const auto input = [&](size_t i) -> const at::Tensor& { return value(of.inputs[i]); };
  const auto inputs = [&] {
    std::vector<at::Tensor> all;
    for (const NodeId id : of.inputs) all.push_back(value(id));
    return all;
  };
  const at::TensorOptions options = at::TensorOptions().dtype(type).device(variables_.device());
  const bool reuse = prepared.reuse_first && only_here(input(0));
  switch (of.op) {
    case Op::Input:
      return fed_slices_ ? value(step.node) : feed(step, feeds);
    case Op::Read: {
      const at::Tensor& slice = variables_.slice(a.variable);
      return slice.scalar_type() == type ? slice : slice.to(type);
    }
    case Op::Fill:
      return at::full(step.local, a.scalar, options);
    case Op::Range:
      return at::arange(prepared.begin[0], prepared.begin[0] + step.local[0], options);
    case Op::Random:
      return random_slice(a.distribution, mix_seed(a.seed, std::to_string(step_number)), of.shape,
                          prepared.begin, step.local, variables_.device())
          .to(type);
    case Op::Unary:
      return unary_kernel(a.unary, input(0), a.scalar, reuse);
    case Op::Binary:
      return binary_kernel(a.binary, align(input(0), prepared.input_labels[0], prepared.labels),
                           align(input(1), prepared.input_labels[1], prepared.labels), reuse);
    case Op::Cast:
      return input(0).to(type);
    case Op::Broadcast:
      return align(input(0), prepared.input_labels[0], prepared.labels).expand(step.local);
    case Op::Reduce: {
      Labels kept = prepared.input_labels[0];
      std::erase_if(kept, [&](int label) {
        return std::find(prepared.labels.begin(), prepared.labels.end(), label) ==
               prepared.labels.end();
      });
      const at::Tensor part =
          align(reduce_kernel(a.reducer, input(0), prepared.reduced_axes), kept, prepared.labels);
      if (step.reduce_now == 0) return part;
      const auto how = a.reducer == Reducer::Max ? comm::Reduction::Max : comm::Reduction::Min;
      return or_stop(all_reduced(part, prepared.group, how, end(), of.name));
    }
    case Op::Einsum:
      return local_einsum(inputs(), prepared.input_labels, prepared.labels, step.local);
    case Op::Reshape:
      return reshaped(step, prepared, input(0));
    case Op::Transpose:
      return align(input(0), prepared.input_labels[0], prepared.labels);
    case Op::Slice: {
      const size_t along = of.shape.axis(a.dim);
      return input(0).narrow(static_cast<int64_t>(along), a.begin, step.local[along]);
    }
    case Op::Pad: {
      const size_t along = of.shape.axis(a.dim);
      std::vector<int64_t> margins(2 * (of.shape.rank() - along), 0);
      margins[margins.size() - 2] = a.begin;
      margins[margins.size() - 1] = a.count;
      return at::constant_pad_nd(input(0), margins);
    }
    case Op::Concat: {
      std::vector<at::Tensor> parts;
      for (size_t i = 0; i < of.inputs.size(); ++i) {
        parts.push_back(align(input(i), prepared.input_labels[i], prepared.labels));
      }
      return at::cat(parts, static_cast<int64_t>(of.shape.axis(a.dim)));
    }
    case Op::Shift:
      return shifted(step, prepared, input(0));
    case Op::OneHot:
      return one_hot(step, prepared, input(0));
    case Op::Gather:
      return gather(step, prepared, input(0), input(1));
    case Op::ScatterAdd:
      return scatter_add(step, prepared, input(0), input(1));
    case Op::TopKIndices:
      return top_k(step, prepared, input(0));
    case Op::Conv:
      return conv_kernel(input(0), input(1), a, step.local);
    case Op::ConvInputGrad:
      return conv_input_kernel(input(0), input(1), a, step.local);
    case Op::ConvFilterGrad:
      return conv_filter_kernel(input(0), input(1), a, step.local);
    case Op::Halo:
      return with_halo(step, prepared, input(0));
    case Op::BlockConv:
      return block_conv(step, input(0), input(1));
    case Op::BlockConvFilterGrad:
      return block_conv_filter(step, input(0), input(1));
    case Op::Slicewise:
      return slicewise(step, inputs());
    case Op::While:
      return run_loop(step, prepared, inputs(), step_number);
    case Op::LoopValue:
      return loop_values_.at(of.inputs[0])[static_cast<size_t>(a.begin)];
    case Op::Print:
      print(step, prepared, input(0));
      return input(0);
    case Op::CustomGradient:
    case Op::Accumulate:
      return input(0);
  }
  return {};
}

at::Tensor Executor::feed(const Step& step, const Feeds& feeds) const {
  const Node& of = node(step.node);
  const auto found = feeds.find(of.name);
  if (found == feeds.end()) {
    throw ExecutionStopped{{base::ErrorCode::BadData,
                            fmt::format("no value was fed for the input '{}'", of.name),
                            {},
                            {}}};
  }
  const at::Tensor& whole = found->second;
  // A dimension may be fed whole, or as this device's part of it alone.
  TensorLayout layout = step.layout;
  bool fits = whole.dim() == static_cast<int64_t>(of.shape.rank());
  for (size_t i = 0; fits && i < of.shape.rank(); ++i) {
    const int64_t size = whole.size(static_cast<int64_t>(i));
    if (size == of.shape[i].size) continue;
    fits = size == step.local[i];
    layout[i] = kWhole;
  }
  if (!fits) {
    throw ExecutionStopped{{base::ErrorCode::BadData,
                            fmt::format("the input '{}' is {}, but was fed {} elements in {} "
                                        "dimensions",
                                        of.name, of.shape.text(), whole.numel(), whole.dim()),
                            {},
                            {}}};
  }
  const at::Tensor part = local_part(whole, of.shape, layout, plan_.mesh, plan_.rank);
  const at::ScalarType type = stored_type(of.dtype, variables_.device());
  const c10::Device device = variables_.device();
  if (part.device() != device) {
    // Pinned memory: the GPU reads it while the host continues.
    const at::Tensor sent = device.is_cuda() ? part.pin_memory() : part;
    return sent.to(device, sent.scalar_type(), /*non_blocking=*/true).to(type);
  }
  const bool copy = DeviceMemory::limits_this_thread();
  return part.to(type, /*non_blocking=*/false, copy);
}

at::Tensor Executor::whole(NodeId id) {
  const Node& of = node(id);
  return or_stop(gather_whole(value(id), plan_.rules.layout_of(of.shape, plan_.mesh), plan_.mesh,
                              end(), of.name));
}

void Executor::assign(const std::vector<Assignment>& assignments, bool open) {
  // A value that is (a view of) another variable must not change while others are assigned.
  for (const Assignment& each : assignments) {
    at::Tensor& from = value(each.value);
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (from.is_alias_of(variables_.slice(static_cast<VariableId>(i)))) from = from.clone();
    }
  }
  for (const Assignment& each : assignments) {
    if (!open && !each.always) continue;
    at::Tensor& slice = variables_.slice(each.variable);
    if (each.adam) {
      AdamRule rule = *each.adam;
      if (rule.factor >= 0) rule.rate *= value(rule.factor).item<double>();
      adam_update(slice, variables_.slice(rule.first), variables_.slice(rule.second),
                  value(each.value), rule);
    } else if (each.subtract) {
      slice.sub_(value(each.value), each.factor);
    } else {
      slice.copy_(value(each.value));
    }
  }
}

void Executor::clear() {
  for (at::Tensor& each : values_) each.reset();
  loop_values_.clear();
  for (Sending& each : sending_) {
    each.last_message.reset();
    if (!each.delayed) each.message.reset();
  }
}

const std::string& Executor::current_operation() const {
  return node(plan_.steps[current_].node).name;
}

}  // namespace goban::train::mesh
