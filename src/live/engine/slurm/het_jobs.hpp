// Heterogeneous jobs (#SBATCH hetjob). One whose components each want one node and the same GPUs is
// one job of the core, under the id of its leader, which is its first component: it gets one node
// for each component, with any GPUs there. The others are left to Slurm. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine/slurm/queue_view.hpp"

namespace goban::live::engine::slurm {

struct JoinedQueue {
  std::vector<JobRow> rows{};
  std::map<std::string, JobFacts> facts{};
};

[[nodiscard]] bool has_het_jobs(std::span<const JobRow> rows);

/// The queue with one row for each heterogeneous job that is one job of the core
/// (JobRow::components). Of the others, the row of the leader says why (JobRow::left) as long as
/// they are held for Goban.
[[nodiscard]] JoinedQueue join_het_jobs(std::span<const JobRow> rows,
                                        const std::map<std::string, JobFacts>& facts,
                                        std::span<const NodeRow> nodes, const QueueRules& rules);

/// The components of a heterogeneous job that have not ended, its leader first; of another job, its
/// own id alone. `rows`: as Slurm lists them.
[[nodiscard]] std::vector<std::string> components_of(std::span<const JobRow> rows,
                                                     const std::string& id);

/// Of one component: where it is placed.
struct ComponentPlace {
  std::string id{};
  NodePart part{};
  Indices indices = Indices::Nodes;
  std::vector<std::string> index_types{};  ///< of its node
};

/// Each component gets a part, in their order. `words`: of each; null if unknown. Errors: Failed in
/// words for users, if they do not fit.
[[nodiscard]] base::Result<std::vector<ComponentPlace>> component_places(
    std::span<const std::string> ids, std::span<const JobWords* const> words,
    std::span<const NodePart> parts, std::span<const NodeRow> nodes, Indices indices);

/// As place_lines(), for the components of a heterogeneous job, its leader first. Slurm refuses a
/// list of nodes for the leader, which therefore excludes all nodes but its own. What the leader
/// excludes is excluded for all components, until each of them is given its own node. `nodes`: all.
[[nodiscard]] base::Result<std::string> place_het_lines(std::span<const ComponentPlace> places,
                                                        const Mark& mark,
                                                        std::span<const NodeRow> nodes,
                                                        std::string_view gres_prefix,
                                                        std::string_view partitions, bool ran);

/// Slurm starts heterogeneous jobs in the cycles of its backfill only: the time between two, by
/// what scontrol show config printed.
[[nodiscard]] base::TimeNs backfill_cycle_ns(std::string_view config);
/// Says of the heterogeneous jobs in `rows`, which are joined, that they start in such cycles.
void set_cycles(QueueView& view, std::span<const JobRow> rows, base::TimeNs cycle_ns);

/// "n1", "n2", "n3", "login" -> "login,n[1-3]".
[[nodiscard]] std::string node_ranges(std::span<const std::string> names);

}  // namespace goban::live::engine::slurm
