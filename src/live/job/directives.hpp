// The directives in the head of a job script: `#GOBAN`, and those of Slurm (`#SBATCH`), Grid Engine
// (`#$`) and PBS (`#PBS`), so that the scripts people have run as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "live/job/job_request.hpp"

namespace goban::live::job {

/// A directive, or a part of one, that has no effect.
struct UnreadDirective {
  int line = 0;
  std::string text{};
  std::string why{};
};

struct Directives {
  JobWish wish{};
  std::vector<UnreadDirective> unread{};  ///< by line
};

/// Reads the lines up to the first that is neither empty nor a comment. Later lines win. `name` is
/// how errors call the script. Errors: BadData with the line, if a known option has a value that
/// cannot be, for unknown options of #GOBAN, and for what would be another job without it
/// (heterogeneous jobs, dependencies that cannot be kept).
[[nodiscard]] base::Result<Directives> read_directives(std::string_view script,
                                                       const std::string& name);

}  // namespace goban::live::job
