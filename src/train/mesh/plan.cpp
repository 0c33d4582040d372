#include "train/mesh/plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "train/mesh/bundle.hpp"
#include "train/mesh/functions.hpp"
#include "train/mesh/legality.hpp"
#include "train/mesh/shift_parts.hpp"

namespace goban::train::mesh {
namespace {

double product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), 1.0,
                         [](double a, int64_t b) { return a * static_cast<double>(b); });
}

class Lowering {
 public:
  Lowering(const Graph& graph, const MeshShape& mesh, const LayoutRules& rules, int rank)
      : graph_(graph), pending_(graph.size(), 0) {
    plan_.mesh = mesh;
    plan_.rules = rules;
    plan_.rank = rank;
  }

  void add(NodeId id, bool inner) {
    const Node& node = graph_.node(id);
    Step step;
    step.node = id;
    step.inner = inner;
    step.layout = layout(node.shape);
    step.local = local_sizes(node.shape, step.layout, plan_.mesh);
    step.value_bytes = static_cast<int64_t>(product(step.local)) * dtype_bytes(node.dtype);
    decide(node, step);
    pending_[static_cast<size_t>(id)] = step.pending;
    plan_.steps.push_back(std::move(step));
  }

  /// The last `parts` roots may remain partial sums.
  Plan finish(const std::vector<NodeId>& roots, int micro_batches, size_t parts = 0) {
    for (size_t i = 0; i + parts < roots.size(); ++i) {
      const NodeId root = roots[i];
      AxisSet& pending = pending_[static_cast<size_t>(root)];
      if (pending == 0) continue;
      plan_.completed_last.push_back(root);
      plan_.pending[root] = pending;
      plan_.last_collectives.push_back(all_reduce(root, pending));
      pending = 0;
    }
    bundle_reductions(graph_, plan_);
    free_values(roots);
    add_up(micro_batches);
    for (const Assignment& each : graph_.assignments()) {
      if (std::find(roots.begin(), roots.end(), each.value) == roots.end()) continue;
      int64_t& updated = plan_.totals.updated_bytes;
      updated += variable_bytes(each.variable);
      if (each.adam)
        updated += variable_bytes(each.adam->first) + variable_bytes(each.adam->second);
    }
    return std::move(plan_);
  }

 private:
  TensorLayout layout(const Shape& shape) const { return plan_.rules.layout_of(shape, plan_.mesh); }
  AxisSet pending(NodeId id) const { return pending_[static_cast<size_t>(id)]; }
  int64_t local_bytes(NodeId id) const {
    const Node& node = graph_.node(id);
    return local_elements(node.shape, layout(node.shape), plan_.mesh) * dtype_bytes(node.dtype);
  }
  int64_t variable_bytes(VariableId id) const {
    const Variable& variable = graph_.variable(id);
    return local_elements(variable.shape, layout(variable.shape), plan_.mesh) *
           dtype_bytes(variable.dtype);
  }

  Collective message(comm::Operation operation, AxisSet axes, int64_t bytes) const {
    const auto members = static_cast<size_t>(plan_.mesh.devices_in(axes));
    return {operation, axes, bytes, comm::wire_bytes(operation, members, bytes)};
  }
  Collective all_reduce(NodeId id, AxisSet axes) const {
    return message(comm::Operation::AllReduce, axes, local_bytes(id));
  }

  /// Completes the pending sum of an input before the step runs; later users find it complete.
  void complete(Step& step, NodeId input) {
    AxisSet& axes = pending_[static_cast<size_t>(input)];
    if (axes == 0) return;
    step.complete.push_back(input);
    step.collectives.push_back(all_reduce(input, axes));
    axes = 0;
  }
  void complete_all(Step& step, const Node& node) {
    for (const NodeId input : node.inputs) complete(step, input);
  }

  /// Mesh axes that split an input but not the output: the sum over them is pending.
  AxisSet summed_axes(const Node& node, const Step& step) const {
    AxisSet axes = 0;
    for (const NodeId input : node.inputs) axes |= axes_of(layout(graph_.node(input).shape));
    axes &= ~axes_of(step.layout);
    for (size_t i = 0; i < plan_.mesh.axes().size(); ++i) {
      if (plan_.mesh.axes()[i].size == 1) axes &= ~(AxisSet{1} << i);
    }
    return axes;
  }

  /// Elements of the union of all dimensions on this device: the size of the loop nest.
  double loop_elements(const Node& node) const {
    Shape all = node.shape;
    for (const NodeId input : node.inputs) all = all.united(graph_.node(input).shape);
    return static_cast<double>(local_elements(all, layout(all), plan_.mesh));
  }

  /// Linear in one input: the sum may stay pending unless the output is split over its axes.
  void pass_through(const Node& node, Step& step) {
    const NodeId input = node.inputs[0];
    if ((pending(input) & axes_of(step.layout)) != 0) complete(step, input);
    step.pending = pending(input);
  }

  void decide(const Node& node, Step& step) {
    const double elements = product(step.local);
    switch (node.op) {
      case Op::Input:
      case Op::Read:
      case Op::Fill:
      case Op::Range:
      case Op::Random:
        return;
      case Op::Unary: {
        step.flops = elements;
        const Unary fn = node.attributes.unary;
        const bool linear = fn == Unary::Identity || fn == Unary::StopGradient ||
                            fn == Unary::Neg || fn == Unary::Scale;
        return linear ? pass_through(node, step) : complete_all(step, node);
      }
      case Op::Binary: {
        step.flops = elements;
        const Binary fn = node.attributes.binary;
        const AxisSet left = pending(node.inputs[0]), right = pending(node.inputs[1]);
        const bool sum = fn == Binary::Add || fn == Binary::Sub;
        if (sum && left == right && (left & axes_of(step.layout)) == 0) {
          step.pending = left;  // add first, reduce once
          return;
        }
        return complete_all(step, node);
      }
      case Op::Cast:
      case Op::OneHot:
      case Op::Slicewise:
        step.flops = elements;
        return complete_all(step, node);
      case Op::Broadcast:
      case Op::Print:
        return complete_all(step, node);
      case Op::While:
        return decide_while(node, step);
      case Op::LoopValue:
        return decide_loop_value(node, step);
      case Op::Transpose:
      case Op::Slice:
      case Op::Pad:
      case Op::Accumulate:
      case Op::CustomGradient:
        return pass_through(node, step);
      case Op::Concat: {
        const AxisSet first = pending(node.inputs[0]);
        const bool same = std::all_of(node.inputs.begin(), node.inputs.end(),
                                      [&](NodeId id) { return pending(id) == first; });
        if (!same) complete_all(step, node);
        step.pending = pending(node.inputs[0]);
        return;
      }
      case Op::Reduce: {
        step.flops = loop_elements(node);
        if (node.attributes.reducer == Reducer::Sum) {
          pass_through(node, step);
          step.pending |= summed_axes(node, step);
          return;
        }
        complete_all(step, node);
        step.reduce_now = summed_axes(node, step);
        if (step.reduce_now != 0) {
          step.collectives.push_back(
              message(comm::Operation::AllReduce, step.reduce_now, step.value_bytes));
        }
        return;
      }
      case Op::Einsum:
        if (node.inputs.size() == 1) {
          pass_through(node, step);
          step.flops = loop_elements(node);
        } else {
          complete_all(step, node);
          step.flops = 2 * loop_elements(node);
        }
        step.pending |= summed_axes(node, step);
        return;
      case Op::Gather:
      case Op::ScatterAdd:
        complete_all(step, node);
        step.flops = elements;
        step.pending = summed_axes(node, step);
        return;
      case Op::Conv:
      case Op::ConvInputGrad:
      case Op::ConvFilterGrad:
      case Op::BlockConv:
      case Op::BlockConvFilterGrad:
        complete_all(step, node);
        step.flops = conv_flops(node);
        step.pending = summed_axes(node, step);
        return;
      case Op::Shift:
        return decide_shift(node, step);
      case Op::Halo:
        return decide_halo(node, step);
      case Op::TopKIndices:
        return decide_top_k(node, step);
      case Op::Reshape:
        return decide_reshape(node, step);
    }
  }

  double conv_flops(const Node& node) const {
    // Multiply-adds: output pixels of the forward pass x filter elements, on this device.
    const bool forward = node.op == Op::Conv || node.op == Op::BlockConv;
    const bool of_filter = node.op == Op::ConvFilterGrad || node.op == Op::BlockConvFilterGrad;
    const Shape& dy = forward ? node.shape : graph_.node(node.inputs[0]).shape;
    const Shape& filter = of_filter ? node.shape : graph_.node(node.inputs[1]).shape;
    const auto local = [&](const Shape& shape) {
      return static_cast<double>(local_elements(shape, layout(shape), plan_.mesh));
    };
    const Shape channels{filter[filter.rank() - (node.attributes.flipped ? 2 : 1)]};
    return 2 * local(dy) * local(filter) / local(channels);
  }

  void decide_shift(const Node& node, Step& step) {
    complete_all(step, node);
    const size_t along = node.shape.axis(node.attributes.dim);
    const int axis = step.layout[along];
    if (axis == kWhole) return;
    const int64_t parts = plan_.mesh.axes()[static_cast<size_t>(axis)].size;
    const int64_t block = step.local[along];
    for (const ShiftPart& part : shift_parts(node.attributes.count, block)) {
      const int64_t coordinate = plan_.mesh.coordinate(plan_.rank, static_cast<size_t>(axis));
      const bool sends = peer_at(coordinate, part.blocks, parts, node.attributes.wrap) >= 0;
      const bool stays = part.blocks % parts == 0;
      if (stays) continue;
      Collective message{comm::Operation::Exchange, AxisSet{1} << axis,
                         step.value_bytes / block * part.size, 0};
      message.sent_bytes = sends ? message.bytes : 0;
      step.collectives.push_back(message);
    }
  }

  /// Assembles blocks, with margins from neighbouring devices where block dimensions are split.
  void decide_halo(const Node& node, Step& step) {
    complete_all(step, node);
    const size_t n = node.shape.rank();
    int64_t size[2] = {step.local[n - 5] * step.local[n - 3],
                       step.local[n - 4] * step.local[n - 2]};
    for (const size_t way : {size_t{0}, size_t{1}}) {
      const int64_t margin = node.attributes.pads[way];
      const int axis = step.layout[n - 5 + way];
      const int64_t parts = axis == kWhole ? 1 : plan_.mesh.axes()[static_cast<size_t>(axis)].size;
      if (parts == 1 || margin == 0) continue;
      const int64_t coordinate = plan_.mesh.coordinate(plan_.rank, static_cast<size_t>(axis));
      for (const HaloPart& part : halo_parts(size[way], margin, parts)) {
        const int64_t bytes = step.value_bytes / size[way] * part.size;
        for (const int64_t to : {part.devices, -part.devices}) {
          const bool sends = peer_at(coordinate, to, parts, false) >= 0;
          step.collectives.push_back(
              {comm::Operation::Exchange, AxisSet{1} << axis, bytes, sends ? bytes : 0});
        }
      }
      step.value_bytes = step.value_bytes / size[way] * (size[way] + 2 * margin);
      size[way] += 2 * margin;
    }
  }

  void decide_top_k(const Node& node, Step& step) {
    complete_all(step, node);
    const Node& x = graph_.node(node.inputs[0]);
    step.flops = static_cast<double>(local_elements(x.shape, layout(x.shape), plan_.mesh));
    const int axis = plan_.rules.axis_of(node.attributes.dim, plan_.mesh);
    if (axis == kWhole) return;
    const int64_t parts = plan_.mesh.axes()[static_cast<size_t>(axis)].size;
    if (parts == 1) return;
    const int64_t kept =
        std::min(node.attributes.count, x.shape.dim(node.attributes.dim).size / parts);
    const int64_t candidates =
        step.value_bytes / dtype_bytes(DType::I64) / node.attributes.count * kept;
    for (const DType dtype : {x.dtype, DType::I64}) {
      step.collectives.push_back(
          message(comm::Operation::AllGather, AxisSet{1} << axis, candidates * dtype_bytes(dtype)));
    }
  }

  void decide_reshape(const Node& node, Step& step) {
    const Node& x = graph_.node(node.inputs[0]);
    const TensorLayout from = layout(x.shape);
    step.reshape = plan_reshape(x.shape, from, node.shape, step.layout, plan_.mesh);
    const AxisSet used = axes_of(step.layout) | axes_of(from);
    if (!step.reshape.moves_nothing() || (pending(node.inputs[0]) & used) != 0) {
      complete_all(step, node);
    }
    step.pending = pending(node.inputs[0]);
    int64_t bytes = local_bytes(node.inputs[0]);
    for (const ReshapeStep& move : step.reshape.before) {
      const int64_t parts = plan_.mesh.axes()[static_cast<size_t>(move.mesh_axis)].size;
      const AxisSet axes = AxisSet{1} << move.mesh_axis;
      switch (move.kind) {
        case ReshapeStep::Kind::Split:
          bytes /= parts;
          break;
        case ReshapeStep::Kind::Exchange:
          step.collectives.push_back(message(comm::Operation::AllToAll, axes, bytes));
          break;
        case ReshapeStep::Kind::Concat:
          step.collectives.push_back(message(comm::Operation::AllGather, axes, bytes));
          bytes *= parts;
          break;
      }
    }
  }

  void decide_while(const Node& node, Step& step) {
    complete_all(step, node);
    const Loop& loop = *node.attributes.loop;
    auto plan = std::make_shared<LoopPlan>();
    plan->going = Lowering(*loop.graph, plan_.mesh, plan_.rules, plan_.rank).whole({loop.going});
    Lowering body(*loop.graph, plan_.mesh, plan_.rules, plan_.rank);
    plan->body = body.whole(loop.next, loop.accumulators);
    plan->turns = loop.expected_turns;
    step.loop = plan;
    LoopValues& values = values_of_loop_[step.node];
    step.value_bytes = 0;
    for (size_t i = 0; i < loop.next.size(); ++i) {
      const bool is_state = i < loop.states.size();
      const bool handed_on = is_state && (plan->turns == 0 || loop.next[i] == loop.states[i]);
      const Node& next = loop.graph->node(loop.next[i]);
      const int64_t elements = local_elements(next.shape, layout(next.shape), plan_.mesh);
      values.bytes.push_back(handed_on ? 0 : elements * dtype_bytes(next.dtype));
      step.value_bytes += values.bytes.back();
      if (is_state) continue;
      values.pending.push_back(body.pending(loop.next[i]));
      values.largest_sum = std::max(values.largest_sum, values.bytes.back());
    }
    const auto turns = static_cast<double>(plan->turns);
    step.flops = plan->body.totals.flops * turns + plan->going.totals.flops * (turns + 1);
  }
  /// Plans everything that `roots` of a loop depend on.
  Plan whole(const std::vector<NodeId>& roots, size_t parts = 0) {
    of_loop_ = true;
    for (const NodeId id : needed_nodes(graph_, roots)) add(id, false);
    return finish(roots, 1, parts);
  }
  void decide_loop_value(const Node& node, Step& step) const {
    const Loop& loop = *node.attributes.loop;
    const auto number = static_cast<size_t>(node.attributes.begin);
    if (number < loop.states.size()) return;
    step.pending = values_of_loop_.at(node.inputs[0]).pending[number - loop.states.size()];
  }

  void free_values(const std::vector<NodeId>& roots) {
    std::vector<int64_t> last(graph_.size(), -1);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      last[static_cast<size_t>(plan_.steps[s].node)] = static_cast<int64_t>(s);
      for (const NodeId input : graph_.node(plan_.steps[s].node).inputs) {
        last[static_cast<size_t>(input)] = static_cast<int64_t>(s);
      }
    }
    for (const NodeId root : roots) last[static_cast<size_t>(root)] = -1;
    for (size_t id = 0; id < last.size(); ++id) {
      if (last[id] < 0) continue;
      plan_.steps[static_cast<size_t>(last[id])].free_after.push_back(static_cast<NodeId>(id));
    }
  }

  void add_up(int micro_batches) {
    PlanTotals& totals = plan_.totals;
    const auto count = [&](const std::vector<Collective>& messages, int times) {
      for (const Collective& message : messages) {
        if (plan_.mesh.devices_in(message.axes) == 1) continue;
        totals.sent_bytes += message.sent_bytes * times;
        totals.collectives += times;
      }
    };
    int64_t live = 0;
    std::vector<int64_t> bytes(graph_.size(), 0);
    for (const Step& step : plan_.steps) {
      const int times = step.inner ? micro_batches : 1;
      count(step.collectives, times);
      totals.flops += step.flops * times;
      if (step.loop) add_loop(*step.loop, times, live, step.node);
      const Node& node = graph_.node(step.node);
      int64_t& own = bytes[static_cast<size_t>(step.node)];
      if (node.op == Op::LoopValue) {  // owned by the loop until now
        own = values_of_loop_.at(node.inputs[0]).bytes[static_cast<size_t>(node.attributes.begin)];
        bytes[static_cast<size_t>(node.inputs[0])] -= own;
      } else {
        own = is_view(node) ? 0 : step.value_bytes;
        live += own;
      }
      // A bundle's values are copied into its message.
      int64_t copied = 0;
      for (size_t i = 0; i < step.complete.size(); ++i) {
        if (!step.together[i].empty()) copied = std::max(copied, step.collectives[i].bytes);
      }
      totals.peak_value_bytes = std::max(totals.peak_value_bytes, live + copied);
      for (const NodeId gone : step.free_after) {
        if (!step.loop || !hand_on(step.node, gone, bytes))
          live -= bytes[static_cast<size_t>(gone)];
      }
    }
    count(plan_.last_collectives, 1);
    for (size_t i = 0; i < graph_.variables().size(); ++i) {
      totals.variable_bytes += variable_bytes(static_cast<VariableId>(i));
    }
  }

  /// Views, variables and inputs of a loop own no memory.
  bool is_view(const Node& node) const {
    return node.op == Op::Broadcast || node.op == Op::Transpose || node.op == Op::Print ||
           node.op == Op::CustomGradient || (node.op == Op::Input && of_loop_) ||
           (node.op == Op::Read && graph_.variable(node.attributes.variable).dtype == node.dtype);
  }

  /// `live`: bytes in use when the loop starts, including the first states.
  void add_loop(const LoopPlan& loop, int times, int64_t live, NodeId node) {
    PlanTotals& totals = plan_.totals;
    for (const Plan* part : {&loop.body, &loop.going}) {
      const int64_t runs = times * (part == &loop.body ? loop.turns : loop.turns + 1);
      totals.sent_bytes += part->totals.sent_bytes * runs;
      totals.collectives += part->totals.collectives * runs;
    }
    const LoopValues& values = values_of_loop_.at(node);
    const int64_t of_turn = std::accumulate(values.bytes.begin(), values.bytes.end(), int64_t{0});
    const int64_t body = loop.body.totals.peak_value_bytes;
    int64_t most = loop.going.totals.peak_value_bytes;
    if (loop.turns >= 1) most = std::max(body, of_turn + most);
    // From the second iteration on, the values of the previous one exist as well.
    if (loop.turns >= 2)
      most = std::max(most, of_turn + std::max(body, of_turn + values.largest_sum));
    totals.peak_value_bytes = std::max(totals.peak_value_bytes, live + most);
  }
  /// True if `given`, which has no user after the loop, is a state that every iteration passes on
  /// unchanged: its memory then belongs to the loop's value.
  bool hand_on(NodeId loop, NodeId given, std::vector<int64_t>& bytes) {
    const Node& node = graph_.node(loop);
    const auto found = std::find(node.inputs.begin(), node.inputs.end(), given);
    const auto number = static_cast<size_t>(found - node.inputs.begin());
    const Loop& of = *node.attributes.loop;
    if (found == node.inputs.end()) return false;
    if (of.expected_turns > 0 && of.next[number] != of.states[number]) return false;
    const int64_t size = bytes[static_cast<size_t>(given)];
    values_of_loop_.at(loop).bytes[number] = size;
    bytes[static_cast<size_t>(loop)] += size;
    return true;
  }

  /// The values of a loop: states, then accumulators.
  struct LoopValues {
    std::vector<int64_t> bytes;    ///< 0 for a state that every iteration passes on unchanged
    std::vector<AxisSet> pending;  ///< axes over which each accumulator is left pending
    int64_t largest_sum = 0;       ///< bytes of the largest accumulator
  };

  const Graph& graph_;
  Plan plan_;
  std::vector<AxisSet> pending_;
  std::map<NodeId, LoopValues> values_of_loop_;
  bool of_loop_ = false;
};

/// True if the value changes between micro-batches without other inputs.
bool draws(const Node& node) {
  if (node.op == Op::Input || node.op == Op::Random) return true;
  if (node.op != Op::While) return false;
  const Graph& body = *node.attributes.loop->graph;
  for (size_t i = 0; i < body.size(); ++i) {
    const Node& inside = body.node(static_cast<NodeId>(i));
    if (inside.op != Op::Input && draws(inside)) return true;
  }
  return false;
}

/// Marks the nodes that run once per micro-batch (before Accumulate); the others run once per step.
base::Result<std::vector<bool>> inner_nodes(const Graph& graph, const std::vector<NodeId>& nodes,
                                            int micro_batches) {
  std::vector<bool> inner(graph.size(), false), varies(graph.size(), false);
  for (size_t i = graph.size(); i-- > 0;) {
    const Node& node = graph.node(static_cast<NodeId>(i));
    if (node.op == Op::Accumulate) inner[i] = true;
    if (!inner[i]) continue;
    for (const NodeId input : node.inputs) inner[static_cast<size_t>(input)] = true;
  }
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    bool changes = draws(node);
    for (const NodeId input : node.inputs) changes = changes || varies[static_cast<size_t>(input)];
    const auto at = static_cast<size_t>(id);
    varies[at] = changes && node.op != Op::Accumulate;
    if (micro_batches == 1 || inner[at]) continue;
    for (const NodeId input : node.inputs) {
      if (!inner[static_cast<size_t>(input)] || !varies[static_cast<size_t>(input)]) continue;
      return base::usage_error(fmt::format("operation '{}' uses '{}' of one micro-batch", node.name,
                                           graph.node(input).name),
                               "pass it through accumulate()");
    }
  }
  return inner;
}

}  // namespace

base::Result<Plan> lower(const Graph& graph, const std::vector<NodeId>& roots,
                         const MeshShape& mesh, const LayoutRules& rules, int rank,
                         int micro_batches) {
  const std::vector<NodeId> nodes = needed_nodes(graph, roots);
  auto warnings = check_layout(graph, nodes, mesh, rules);
  if (!warnings) return base::failure(warnings.error());
  const auto inner = inner_nodes(graph, nodes, micro_batches);
  if (!inner) return base::failure(inner.error());
  Lowering lowering(graph, mesh, rules, rank);
  for (const bool phase : {true, false}) {
    for (const NodeId id : nodes) {
      if ((*inner)[static_cast<size_t>(id)] == phase) lowering.add(id, phase);
    }
  }
  Plan plan = lowering.finish(roots, micro_batches);
  plan.warnings = std::move(*warnings);
  return plan;
}

}  // namespace goban::train::mesh
