// Jobs that name several partitions (sbatch -p long,short): Slurm runs them in any of these. The
// core knows one partition a job; such a list is one more partition, with the nodes of all in it.
// Pure.
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
[[nodiscard]] inline bool is_list(std::string_view partition) {
  return partition.find(',') != partition.npos;
}

/// The lists that jobs of managed partitions name, and those that the receiver was told of. At most
/// kListsMost, as each makes kinds of parts of its own: jobs that name others are left to Slurm.
inline constexpr size_t kListsMost = 32;
[[nodiscard]] std::set<std::string> partition_lists(std::span<const JobRow> rows,
                                                    std::span<const std::string> managed,
                                                    const cluster::Picture& told);

/// The same partitions with those first that have all nodes of `parts`: Slurm tries them in this
/// order, and again only in its next cycle. Empty if `names` is no list.
[[nodiscard]] std::string partitions_for(std::string_view names, std::span<const NodePart> parts,
                                         std::span<const NodeRow> nodes);

/// Adds those lists of which the node is in one partition.
void add_lists(const std::set<std::string>& lists, std::vector<std::string>& partitions);

}  // namespace goban::live::engine::slurm
