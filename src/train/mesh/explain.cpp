#include <fmt/format.h>

#include "train/mesh/functions.hpp"
#include "train/mesh/plan.hpp"

namespace goban::train::mesh {
namespace {

std::string split_text(const Shape& shape, const TensorLayout& layout, const MeshShape& mesh) {
  std::string out = "[";
  for (size_t i = 0; i < shape.rank(); ++i) {
    out += fmt::format("{}{}={}", i == 0 ? "" : ", ", shape[i].name, shape[i].size);
    if (layout[i] == kWhole) continue;
    const Dim& axis = mesh.axes()[static_cast<size_t>(layout[i])];
    out += fmt::format("/{}{}", axis.name, axis.size);
  }
  return out + "]";
}

std::string axes_text(AxisSet set, const MeshShape& mesh) {
  std::string out;
  for (size_t i = 0; i < mesh.axes().size(); ++i) {
    if ((set >> i & 1U) != 0) out += (out.empty() ? "" : "+") + mesh.axes()[i].name;
  }
  return out;
}

std::string messages_text(const std::vector<Collective>& messages, const MeshShape& mesh) {
  std::string out;
  for (const Collective& message : messages) {
    out += fmt::format("{}{} over {}, {} bytes", out.empty() ? "" : "; ",
                       comm::operation_name(message.operation), axes_text(message.axes, mesh),
                       message.sent_bytes);
  }
  return out;
}

}  // namespace

namespace {

/// One line per operation. The operations of a loop follow it, for one iteration.
std::string operations_text(const Graph& graph, const Plan& plan, const std::string& indent) {
  std::string out;
  for (const Step& step : plan.steps) {
    const Node& node = graph.node(step.node);
    std::string said = messages_text(step.collectives, plan.mesh);
    if (step.pending != 0) {
      said += fmt::format("{}sum over {} left pending", said.empty() ? "" : "; ",
                          axes_text(step.pending, plan.mesh));
    }
    out += fmt::format("{:<44} {:<44} {:>12.4g}  {}\n", indent + node.name,
                       split_text(node.shape, step.layout, plan.mesh), step.flops, said);
    if (!step.loop) continue;
    const Graph& inside = *node.attributes.loop->graph;
    const std::string deeper = indent + "  ";
    out += fmt::format("{}while this is not 0:\n", deeper) +
           operations_text(inside, step.loop->going, deeper) +
           fmt::format("{}each of {} expected iterations:\n", deeper, step.loop->turns) +
           operations_text(inside, step.loop->body, deeper);
  }
  for (size_t i = 0; i < plan.completed_last.size(); ++i) {
    out += fmt::format("{:<44} {:<44} {:>12}  {}\n",
                       indent + graph.node(plan.completed_last[i]).name, "(completed at the end)",
                       "", messages_text({plan.last_collectives[i]}, plan.mesh));
  }
  return out;
}

}  // namespace

std::string explain(const Graph& graph, const Plan& plan) {
  std::string out = fmt::format("mesh \"{}\", layout \"{}\", device {}\n", plan.mesh.text(),
                                plan.rules.text(), plan.rank);
  out += fmt::format("{:<44} {:<44} {:>12}  {}\n", "operation", "shape (/axis: split)", "flops",
                     "sent by this device");
  out += operations_text(graph, plan, "");
  const PlanTotals& totals = plan.totals;
  out += fmt::format(
      "per step, on this device: {:.4g} flops, {} bytes sent in {} collectives, {} bytes of "
      "variables updated; memory: {} bytes of variables, at most {} bytes of values\n",
      totals.flops, totals.sent_bytes, totals.collectives, totals.updated_bytes,
      totals.variable_bytes, totals.peak_value_bytes);
  for (const std::string& warning : plan.warnings) out += "warning: " + warning + "\n";
  return out;
}

}  // namespace goban::train::mesh
