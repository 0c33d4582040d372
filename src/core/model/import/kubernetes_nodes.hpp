// Nodes of a Kubernetes cluster: `kubectl get nodes -o json` (a List of Node, or one Node; API v1).
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// Reads allocatable cpu, memory, ephemeral-storage and nvidia.com/gpu (or amd.com/gpu); the labels
/// nvidia.com/gpu.product and gpu.memory (MiB), cloud.provider.com/topology-rack (rack) and
/// -block (zone), topology.kubernetes.io/zone (zone; site if there is a block) and region (site).
/// A node is usable if it is Ready and not cordoned. Errors: BadData with line (syntax) or path.
[[nodiscard]] base::Result<SiteNodes> parse_kubernetes_nodes(std::string_view text,
                                                             const std::string& file);

/// A quantity of the API in whole units, rounded down: "64", "63500m", "512Gi", "1e3", "129M".
/// Errors: BadData without a place.
[[nodiscard]] base::Result<int64_t> parse_kubernetes_quantity(std::string_view text);

}  // namespace goban::core::model
