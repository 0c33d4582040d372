#include "train/mesh/legality.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <optional>

#include "train/mesh/functions.hpp"

namespace goban::train::mesh {
namespace {

struct Violation {
  std::string message;
  std::string dimension;  ///< the rule to change
};

/// All dimensions of an operation's inputs and output.
std::vector<Dim> dims_of(const Graph& graph, const Node& node) {
  std::vector<Dim> all = node.shape.dims();
  switch (node.op) {
    // Input and output of a reshape are laid out independently.
    case Op::Reshape:
    case Op::TopKIndices:
    case Op::Slice:
    case Op::Pad:
    case Op::Concat:
    case Op::CustomGradient:
    case Op::While:
    case Op::LoopValue:
      return all;
    default:
      break;
  }
  for (const NodeId input : node.inputs) {
    for (const Dim& dim : graph.node(input).shape.dims()) {
      const auto same = [&](const Dim& other) { return other.name == dim.name; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(dim);
    }
  }
  return all;
}

std::vector<NodeId> all_nodes(const Graph& graph) {
  std::vector<NodeId> out(graph.size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::optional<Violation> first_violation(const Graph& graph, const std::vector<NodeId>& nodes,
                                         const MeshShape& mesh, const LayoutRules& rules);

std::optional<Violation> violation_of(const Graph& graph, const Node& node, const MeshShape& mesh,
                                      const LayoutRules& rules) {
  if (node.op == Op::While) {
    const Graph& body = *node.attributes.loop->graph;
    auto inside = first_violation(body, all_nodes(body), mesh, rules);
    if (inside) inside->message += fmt::format(", in the loop '{}'", node.name);
    return inside;
  }
  const std::vector<Dim> dims = dims_of(graph, node);
  std::vector<const Dim*> taken(mesh.axes().size(), nullptr);
  for (const Dim& dim : dims) {
    const int axis = rules.axis_of(dim.name, mesh);
    if (axis == kWhole) continue;
    const Dim& mesh_axis = mesh.axes()[static_cast<size_t>(axis)];
    if (dim.size % mesh_axis.size != 0) {
      return Violation{fmt::format("operation '{}' ({}): dimension '{}' has {} elements, which "
                                   "mesh axis '{}' of {} does not divide",
                                   node.name, op_name(node.op), dim.name, dim.size, mesh_axis.name,
                                   mesh_axis.size),
                       dim.name};
    }
    const Dim*& other = taken[static_cast<size_t>(axis)];
    if (other != nullptr) {
      return Violation{
          fmt::format("operation '{}' ({}) has two dimensions, '{}' and '{}', on one "
                      "mesh axis '{}'",
                      node.name, op_name(node.op), other->name, dim.name, mesh_axis.name),
          dim.name};
    }
    other = &dim;
  }
  for (const std::string& name : unsplittable_dims(graph, node)) {
    const int axis = rules.axis_of(name, mesh);
    if (axis == kWhole || mesh.axes()[static_cast<size_t>(axis)].size == 1) continue;
    const char* why = node.op == Op::Slicewise ? " (it was not declared splittable)" : "";
    return Violation{
        fmt::format("operation '{}' ({}) requires dimension '{}' unsplit on every device{}, "
                    "but mesh axis '{}' splits it",
                    node.name, op_name(node.op), name, why,
                    mesh.axes()[static_cast<size_t>(axis)].name),
        name};
  }
  return std::nullopt;
}

std::optional<Violation> first_violation(const Graph& graph, const std::vector<NodeId>& nodes,
                                         const MeshShape& mesh, const LayoutRules& rules) {
  for (const NodeId id : nodes) {
    if (auto found = violation_of(graph, graph.node(id), mesh, rules)) return found;
  }
  return std::nullopt;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::string closest(const std::string& name, const std::vector<std::string>& known) {
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  };
  const auto best = std::min_element(known.begin(), known.end(), nearer);
  return best == known.end() ? "" : *best;
}

/// The first legal layout that differs in one rule; if there is none, the layout with rules removed
/// until it is legal.
std::string alternative(const Graph& graph, const std::vector<NodeId>& nodes, const MeshShape& mesh,
                        const LayoutRules& rules, const std::string& dimension) {
  const auto quoted = [](const LayoutRules& legal) {
    return legal.rules.empty() ? std::string("the empty layout \"\" is legal")
                               : fmt::format("\"{}\" is legal", legal.text());
  };
  for (const Dim& axis : mesh.axes()) {
    LayoutRules moved = rules;
    for (auto& rule : moved.rules) {
      if (rule.first == dimension) rule.second = axis.name;
    }
    if (!first_violation(graph, nodes, mesh, moved)) return quoted(moved);
  }
  LayoutRules fewer = rules;
  std::string drop = dimension;
  while (true) {
    std::erase_if(fewer.rules, [&](const auto& rule) { return rule.first == drop; });
    const auto next = first_violation(graph, nodes, mesh, fewer);
    if (!next) return quoted(fewer);
    drop = next->dimension;
  }
}

}  // namespace

std::vector<NodeId> needed_nodes(const Graph& graph, const std::vector<NodeId>& roots) {
  std::vector<bool> needed(graph.size(), false);
  for (const NodeId root : roots) needed[static_cast<size_t>(root)] = true;
  for (size_t i = graph.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const NodeId input : graph.node(static_cast<NodeId>(i)).inputs) {
      needed[static_cast<size_t>(input)] = true;
    }
  }
  std::vector<NodeId> out;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) out.push_back(static_cast<NodeId>(i));
  }
  return out;
}

std::vector<std::string> dimension_names(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  const auto note = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    for (const Dim& dim : node.shape.dims()) note(dim.name);
    if (node.op != Op::While) continue;
    const Graph& body = *node.attributes.loop->graph;
    for (const std::string& name : dimension_names(body, all_nodes(body))) note(name);
  }
  return names;
}

std::vector<std::string> unsplittable_dims(const Graph& graph, const Node& node) {
  const auto spatial = [](const Shape& image, const Shape& kernel) {
    const size_t count = kernel.rank() - 2, first = image.rank() - 1 - count;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back(image[first + i].name);
    for (size_t i = 0; i < count; ++i) names.push_back(kernel[i].name);
    return names;
  };
  const auto input = [&](size_t i) -> const Shape& { return graph.node(node.inputs[i]).shape; };
  switch (node.op) {
    case Op::Slice:
    case Op::Pad:
    case Op::Concat:
      return {node.attributes.dim};
    case Op::TopKIndices: {
      for (const Dim& dim : node.shape.dims()) {
        if (!input(0).has(dim.name) || dim.name == node.attributes.dim) return {dim.name};
      }
      return {};
    }
    case Op::Conv:
    case Op::ConvInputGrad:
      return spatial(node.shape, input(1));
    case Op::ConvFilterGrad:
    case Op::BlockConvFilterGrad:
      return spatial(input(1), node.shape);
    case Op::BlockConv:
      return spatial(node.shape, input(1));
    case Op::Halo: {
      const size_t n = node.shape.rank();
      return {node.shape[n - 3].name, node.shape[n - 2].name};
    }
    case Op::Slicewise: {
      const std::vector<std::string>& allowed = node.attributes.slicewise->splittable;
      std::vector<std::string> names;
      for (const Dim& dim : dims_of(graph, node)) {
        if (std::find(allowed.begin(), allowed.end(), dim.name) == allowed.end()) {
          names.push_back(dim.name);
        }
      }
      return names;
    }
    default:
      return {};
  }
}

bool is_legal(const Graph& graph, const std::vector<NodeId>& nodes, const MeshShape& mesh,
              const LayoutRules& rules) {
  return !first_violation(graph, nodes, mesh, rules);
}

base::Result<std::vector<std::string>> check_layout(const Graph& graph,
                                                    const std::vector<NodeId>& nodes,
                                                    const MeshShape& mesh,
                                                    const LayoutRules& rules) {
  const std::vector<std::string> names = dimension_names(graph, nodes);
  std::vector<std::string> axes;
  for (const Dim& axis : mesh.axes()) axes.push_back(axis.name);
  for (const auto& [dimension, axis] : rules.rules) {
    if (std::find(names.begin(), names.end(), dimension) == names.end()) {
      return base::usage_error(fmt::format("layout rule \"{}:{}\": no tensor has a dimension '{}'",
                                           dimension, axis, dimension),
                               fmt::format("did you mean '{}'? known dimensions: {}",
                                           closest(dimension, names), fmt::join(names, ", ")));
    }
    if (mesh.find(axis) < 0) {
      return base::usage_error(
          fmt::format("layout rule \"{}:{}\": the mesh has no axis '{}'", dimension, axis, axis),
          axes.empty() ? "the mesh has no axes; set --mesh"
                       : fmt::format("did you mean '{}'? known axes: {}", closest(axis, axes),
                                     fmt::join(axes, ", ")));
    }
  }
  if (const auto found = first_violation(graph, nodes, mesh, rules)) {
    return base::usage_error(found->message,
                             alternative(graph, nodes, mesh, rules, found->dimension));
  }
  AxisSet used = 0;
  for (const NodeId id : nodes) used |= axes_of(rules.layout_of(graph.node(id).shape, mesh));
  std::vector<std::string> warnings;
  for (size_t i = 0; i < mesh.axes().size(); ++i) {
    if ((used >> i & 1U) != 0 || mesh.axes()[i].size == 1) continue;
    warnings.push_back(fmt::format(
        "mesh axis '{0}' splits nothing: its {1} devices repeat the "
        "same work; assign a dimension to it, such as \"{2}:{0}\"",
        mesh.axes()[i].name, mesh.axes()[i].size, names.empty() ? "batch" : names.front()));
  }
  return warnings;
}

}  // namespace goban::train::mesh
