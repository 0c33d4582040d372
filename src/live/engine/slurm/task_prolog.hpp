// The TaskProlog by which jobs of Slurm find the progress socket of the agent on their node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::live::engine::slurm {

/// The file beside slurm.conf, and how it begins.
inline constexpr std::string_view kPrologFile = "goban_task_prolog.sh";
inline constexpr std::string_view kPrologHead = "#!/bin/sh\n# Written by goban engine slurm setup.";

/// The script. `folder`: of the agents' sockets, absolute. Errors: Usage if a shell would read the
/// folder's name as anything else.
[[nodiscard]] base::Result<std::string> task_prolog(const std::string& folder);

}  // namespace goban::live::engine::slurm
