// Which layouts a graph allows, decided before anything runs, with messages that say what to do.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"

namespace goban::train::mesh {

/// The nodes that `roots` need, in order.
[[nodiscard]] std::vector<NodeId> needed_nodes(const Graph& graph,
                                               const std::vector<NodeId>& roots);

/// Names of all dimensions of the nodes, in order of first appearance.
[[nodiscard]] std::vector<std::string> dimension_names(const Graph& graph,
                                                       const std::vector<NodeId>& nodes);

/// Dimensions that operation must have whole on every device (conv's height, slice's own, ...).
[[nodiscard]] std::vector<std::string> unsplittable_dims(const Graph& graph, const Node& node);

/// Whether the nodes can run under these rules; no search for alternatives (for planners).
[[nodiscard]] bool is_legal(const Graph& graph, const std::vector<NodeId>& nodes,
                            const MeshShape& mesh, const LayoutRules& rules);

/// Refuses unknown names, sizes that do not divide, two dimensions of one operation on one mesh
/// axis, and unsplittable uses. Errors: Usage, naming the operation; the remedy is a layout that
/// is legal. On success, warnings: mesh axes that only repeat work.
[[nodiscard]] base::Result<std::vector<std::string>> check_layout(const Graph& graph,
                                                                  const std::vector<NodeId>& nodes,
                                                                  const MeshShape& mesh,
                                                                  const LayoutRules& rules);

}  // namespace goban::train::mesh
