// The directives in the head of a job script: `#GOBAN`, and those of Slurm (`#SBATCH`), Grid Engine
// (`#$`) and PBS (`#PBS`), so that existing scripts run unchanged.
#pragma once

#include <string>
#include <string_view>

#include "live/job/job_request.hpp"

namespace goban::live::job {

/// Reads the lines up to the first one that is neither empty nor a comment. Later lines override
/// earlier ones. `name`: name of the script in errors. Errors: BadData with the line, for an
/// invalid value of a known option, for unknown options of #GOBAN, and for options whose omission
/// would change the job (heterogeneous jobs, unsupported dependencies).
[[nodiscard]] base::Result<SubmitDirectives> read_directives(std::string_view script,
                                                             const std::string& name);

}  // namespace goban::live::job
