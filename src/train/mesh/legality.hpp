// Checks which layouts a graph allows, before anything runs. Errors include a remedy.
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

/// Dimensions that the operation cannot run split (spatial ones of conv, the one a slice acts on,
/// ...).
[[nodiscard]] std::vector<std::string> unsplittable_dims(const Graph& graph, const Node& node);

/// True if the nodes can run under these rules. Does not search for alternatives; for planners.
[[nodiscard]] bool is_legal(const Graph& graph, const std::vector<NodeId>& nodes,
                            const MeshShape& mesh, const LayoutRules& rules);

/// Rejects unknown names, sizes that do not divide, two dimensions of one operation on one mesh
/// axis, and splits of unsplittable dimensions. Errors: Usage, with the operation; the remedy is a
/// legal layout. On success returns warnings: mesh axes that only repeat work.
[[nodiscard]] base::Result<std::vector<std::string>> check_layout(const Graph& graph,
                                                                  const std::vector<NodeId>& nodes,
                                                                  const MeshShape& mesh,
                                                                  const LayoutRules& rules);

}  // namespace goban::train::mesh
