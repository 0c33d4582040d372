// What Slurm's answers mean for the core: its jobs and nodes as a picture, and where the jobs stand
// whose orders are open. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/engine/cluster/ledger.hpp"
#include "live/engine/cluster/picture.hpp"
#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/left_jobs.hpp"
#include "live/engine/slurm/limits.hpp"
#include "live/engine/slurm/node_list.hpp"
#include "live/engine/slurm/orders.hpp"
#include "live/engine/slurm/priority.hpp"

namespace goban::live::engine::slurm {

/// What is asked once a job, and what it holds, once a start.
struct JobFacts {
  JobWords words{};
  bool has_words = false;
  base::TimeNs parts_of_ns = -1;  ///< start to which `parts` belongs; -1 = none
  std::vector<NodePart> parts{};
  int doubts = 0;  ///< times that its record could not be read: `parts` are its nodes alone
};

/// Where a job stands by its state, PENDING with priority 0 being held.
[[nodiscard]] cluster::Stand stand_of(const JobRow& row);
/// Its user holds it, since its submission or later, and has not released it.
[[nodiscard]] bool is_held_by_user(const JobRow& row);

/// It is held for Goban, which has not placed it yet.
[[nodiscard]] bool is_new(const JobRow& row);

/// How jobs ended that Slurm no longer lists.
struct Outcomes {
  std::map<int64_t, bool> ended{};  ///< job or array -> all of it completed with exit code 0
};

/// Why a job's dependencies do not let it start, as Slurm says nothing while it is held; empty:
/// they do. `text`: "afterok:12(unfulfilled),afterany:13_*(unfulfilled)?after:14". What is no
/// longer listed counts as ended, and as completed only if `outcomes` says so.
[[nodiscard]] std::string blocked_by(std::string_view text, const JobRow& job,
                                     std::span<const JobRow> rows, const Outcomes& outcomes);

struct QueueView {
  cluster::Picture picture{};
  std::map<std::string, cluster::JobStand> stands{};
  std::set<std::string> places{};  ///< that the core knows (partitions.hpp)
  bool lacks_nodes = false;        ///< no known node has what some job names
  /// Held jobs that the core cannot place, in the order of the queue, and why (why_for_slurm()). It
  /// sees them as blocked until Slurm has them.
  std::vector<std::pair<std::string, std::string_view>> leaves{};
};

/// `rows` and `facts`: with heterogeneous jobs joined (het_jobs.hpp).
/// Jobs without words are left out: they appeared a moment ago. Jobs of others that wait are left
/// out unless they are in `told`, what the core was told last.
[[nodiscard]] QueueView view_of(std::span<const JobRow> rows, std::span<const NodeRow> nodes,
                                const std::map<std::string, JobFacts>& facts,
                                const QueueRules& rules, const Outcomes& outcomes,
                                const cluster::Picture& told);

/// Says of waiting jobs which limit of Slurm's accounting they would meet. Within a limit, jobs are
/// eligible in the order of their submission; those that we ordered to start go first.
void block_by_limits(QueueView& view, std::span<const JobRow> rows,
                     const std::map<std::string, JobFacts>& facts, const Limits& limits);

/// Sets the priorities of waiting jobs that are ours (priority.hpp).
void set_priorities(QueueView& view, std::span<const JobRow> rows,
                    const std::map<std::string, JobFacts>& facts, const PriorityRules& rules,
                    base::TimeNs now_ns);

/// Sets how many tasks of an array run at once (sbatch --array=0-9%2), by the array's job.
void limit_arrays(QueueView& view, std::span<const JobRow> rows,
                  const std::map<int64_t, int32_t>& limits);

}  // namespace goban::live::engine::slurm
