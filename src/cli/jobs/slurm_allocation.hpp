// goban run on a site whose daemon decides for Slurm: an allocation by salloc, as the user who
// calls us, and the command in its interactive step on the first node (docs/slurm.md).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/jobs/submit_payload.hpp"

namespace goban::cli {

/// salloc, srun and the command. The step takes nothing of the allocation for itself, so mpirun or
/// srun in it may start workers on all GPUs. `ignored`: names of options that neither has. Errors:
/// those of sbatch_options(); Usage if something is to be staged.
[[nodiscard]] base::Result<std::vector<std::string>> salloc_words(
    const SubmitPayload& payload, std::vector<std::string>& ignored);

/// Becomes salloc, which waits for the allocation, gives it back at the end, and exits as the
/// command does. Returns only on failure. Errors: those of salloc_words(); Usage where the daemon
/// is reached by ssh; Failed if salloc is absent.
[[nodiscard]] base::Error run_by_salloc(const SubmitPayload& payload, const std::string& server);

}  // namespace goban::cli
