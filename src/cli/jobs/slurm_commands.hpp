// A site whose daemon decides for Slurm: jobs are submitted and ended by Slurm's own commands, as
// the user who calls us (docs/slurm.md).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/jobs/submit_payload.hpp"

namespace goban::cli {

/// True if the daemon refused a submission because it takes jobs from Slurm alone.
[[nodiscard]] bool is_for_sbatch(const base::Error& refusal);

/// The options of sbatch for those of goban submit. `ignored`: names of those that it has not.
/// Errors: Usage with the option.
[[nodiscard]] base::Result<std::vector<std::string>> sbatch_options(
    const SubmitChoices& choices, std::vector<std::string>& ignored);

/// Runs sbatch, whose messages go to stderr; where the daemon is reached by ssh, there. Returns
/// Slurm's number of the job. Lines #SBATCH of the script are sbatch's to read. Warns of options
/// that have no effect. Errors: Failed if sbatch is absent or refuses; those of sbatch_options();
/// Usage for arguments of a script by ssh.
[[nodiscard]] base::Result<std::string> submit_by_sbatch(const SubmitPayload& payload,
                                                         const std::string& server);

/// Runs scancel for a job that Slurm started itself, where submit_by_sbatch() runs sbatch. Errors:
/// Failed if scancel is absent or refuses.
[[nodiscard]] base::Status cancel_by_scancel(const std::string& id, const std::string& server);

/// True if the daemon refused a cancel because the job of this id is Slurm's own.
[[nodiscard]] bool is_for_scancel(const std::string& id, const std::string& refusal);

}  // namespace goban::cli
