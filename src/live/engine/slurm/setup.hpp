// What `goban engine slurm setup` changes in the configuration of a site: as few lines as possible,
// each explained, and all of it undone by undo_setup(). Pure; nothing of GRES is changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine/slurm/job_submit.hpp"

namespace goban::live::engine::slurm {

/// The files that concern us.
struct SlurmFiles {
  std::string conf{};                   ///< slurm.conf
  std::optional<std::string> lua{};     ///< job_submit.lua beside it
  std::optional<std::string> prolog{};  ///< kPrologFile beside it
};

struct SetupPlan {
  SlurmFiles files{};                  ///< as they are to be
  std::vector<std::string> reasons{};  ///< what is changed and why, for the administrator
  std::vector<std::string> warnings{};
  SubmitRules rules{};  ///< what job_submit.lua checks
};

/// `partitions`: managed ones; empty = all. `slurm_uid`: of SlurmUser. Errors: BadData if
/// slurm.conf has no such partition, or is in parts (Include); Failed if another job_submit.lua is
/// there.
[[nodiscard]] base::Result<SetupPlan> plan_setup(const SlurmFiles& files,
                                                 const std::vector<std::string>& partitions,
                                                 uint32_t slurm_uid);

/// Adds to the plan what lets jobs report to the agents on their nodes. `conf_folder`: of
/// slurm.conf, on all nodes; `socket_folder`: of the agents' sockets. Errors: Failed if the site
/// has a TaskProlog of its own; those of task_prolog().
[[nodiscard]] base::Status plan_agents(SetupPlan& plan, const std::string& conf_folder,
                                       const std::string& socket_folder);

/// The partitions that a job_submit.lua of ours manages, as it says in its head; no value: it is
/// not ours, empty: all.
[[nodiscard]] std::optional<std::vector<std::string>> managed_partitions(std::string_view lua);

/// The files as they were before the setup; what others changed since is kept.
[[nodiscard]] SlurmFiles undo_setup(const SlurmFiles& files);

/// SlurmUser of slurm.conf; "root" if it names none.
[[nodiscard]] std::string slurm_user(std::string_view conf);

}  // namespace goban::live::engine::slurm
