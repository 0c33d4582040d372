// Where in the cluster a job may run. Jobs may name several partitions (sbatch -p long,short):
// Slurm runs them in any of these. They may name as many nodes as they need (-w), and features of
// nodes
// (-C), and GPUs by their GRES types (--gres=gpu:g0:1,gpu:g2:1). The core knows one partition a
// job; such a place is one more partition, with its nodes: "long,short", "gpu on n[1-2]", "gpu with
// ib&hdr", "gpu at 0,2" (SeenNode). Pure.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/cluster/picture.hpp"
#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/node_list.hpp"

namespace goban::live::engine::slurm {

/// True if all partitions that `names` lists are in `managed`; empty = all are.
[[nodiscard]] bool are_managed(std::string_view names, std::span<const std::string> managed);

/// "short,long" -> "long,short": the order does not matter, and Slurm changes it.
[[nodiscard]] std::string partition_list(std::string_view names);

/// Its user chose the nodes that the request names.
[[nodiscard]] bool has_own_nodes(const JobRow& row, const JobWords& words);
/// The indices of the GPUs that its user chose, the same on each of its nodes; empty: none, or not
/// so. `index_types`: by index.
[[nodiscard]] std::vector<uint32_t> own_indices(const JobRow& row, const JobWords& words,
                                                std::span<const std::string> index_types);
/// The job chooses nodes or features in another way than place_of() knows: more nodes than it
/// names, features that are not joined by "&" alone.
[[nodiscard]] bool has_other_choice(const JobRow& row, const JobWords& words);
/// Where a job may run: one partition, or a place.
[[nodiscard]] std::string place_of(const JobRow& row, const JobWords& words,
                                   std::span<const std::string> index_types);
/// False for the name of one partition, which contains no comma and no blank.
[[nodiscard]] inline bool is_place(std::string_view partition) {
  return partition.find_first_of(", ") != partition.npos;
}

/// It names nodes, features or indices.
[[nodiscard]] inline bool is_choice(std::string_view place) {
  return place.find(' ') != place.npos;
}

/// Of `wanted`, and those that the receiver was told of, at most kPlacesMost, as each makes kinds
/// of parts of its own: jobs that name others are left to Slurm.
inline constexpr size_t kPlacesMost = 32;
[[nodiscard]] std::set<std::string> places(std::span<const std::string> wanted,
                                           const cluster::Picture& told);

/// The same partitions with those first that have all nodes of `parts`: Slurm tries them in this
/// order, and again only in its next cycle. Empty if `names` is no list.
[[nodiscard]] std::string partitions_for(std::string_view names, std::span<const NodePart> parts,
                                         std::span<const NodeRow> nodes);

/// Those to which the node belongs. `partitions`: the managed ones of the node.
[[nodiscard]] std::vector<std::string> places_with(const NodeRow& node,
                                                   std::span<const std::string> partitions,
                                                   const std::set<std::string>& places);

}  // namespace goban::live::engine::slurm
