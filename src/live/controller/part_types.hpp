// Jobs of an engine's own queue consist of equal parts, each of some GPUs of one node. With some
// engines each part is on a node of its own (Slurm), with others not (Kubernetes). Each kind of
// part is a resource type of the cluster (clusters.cpp): its number of GPUs, and what the engine
// demands of its place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cluster.hpp"
#include "live/engine_events.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

struct PartKind {
  int32_t gpus = 0;
  std::string partition{};  ///< on nodes of this partition only; empty: on any
  std::string model{};      ///< on nodes with this GPU model only; empty: on any
  bool equal = false;       ///< all parts of a job have GPUs of the same indices
  friend bool operator==(const PartKind&, const PartKind&) = default;
};
/// The name of the resource type: "GPUs of one node: 4", "GPUs of one node: 4|short|a100|equal".
[[nodiscard]] std::string part_type_name(const PartKind& kind);
/// The kind with this name; none if it is another resource type.
[[nodiscard]] std::optional<PartKind> part_kind(std::string_view name);

/// All kinds of parts that jobs can have on these nodes, behind `known`: a resource type keeps its
/// number, as running jobs refer to it. A partition or GPU model that all nodes have makes no kind
/// of its own. `share_nodes`: parts may lie on one node, and only partitions constrain their
/// places.
[[nodiscard]] std::vector<core::model::ResourceType> part_types(
    std::span<const core::model::ResourceType> known, std::span<const SeenNode> nodes,
    bool share_nodes);

/// The kind of a job's parts; invalid if the cluster does not have it.
[[nodiscard]] core::model::ResourceTypeId part_type_of(const job::JobSpec& spec,
                                                       const core::model::Cluster& cluster);
/// The kind that its request in the core names. None for a job that consents to share the one GPU
/// that it requests, on any node: that is one part anyway, and the core lets no parts share.
[[nodiscard]] core::model::ResourceTypeId requested_part_type(const job::JobSpec& spec,
                                                              const core::model::Cluster& cluster);
/// `share_nodes`: parts may lie on one node. Errors: Failed with the reason for which the cluster
/// cannot run the job, or for which parts could come to the same node that must not.
[[nodiscard]] base::Status check_parts(const job::JobSpec& spec,
                                       const core::model::Cluster& cluster, bool share_nodes);

}  // namespace goban::live::controller
