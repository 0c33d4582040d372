// What sbatch tells a job about its own request: SLURM_NTASKS, SLURM_CPUS_PER_TASK, ... (Slurm
// 22.05). What a job is granted, such as its GPUs, is told by the engine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "live/job/submit_directives.hpp"

namespace goban::live::job {

/// Names and values. What was not requested is absent, as with Slurm. `request`: as finish()
/// returned it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> slurm_variables(
    const SubmitDirectives& request);

}  // namespace goban::live::job
