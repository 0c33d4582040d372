#include "live/engine/slurm/task_prolog.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::engine::slurm {

base::Result<std::string> task_prolog(const std::string& folder) {
  const bool is_plain = folder.starts_with('/') && std::ranges::all_of(folder, [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') ||
                                 std::string_view("/._-").find(c) != std::string_view::npos;
                        });
  if (!is_plain) {
    return base::usage_error("the folder of the agents' sockets is no plain absolute path",
                             "such as /run/goban");
  }
  // A task prolog that fails ends the task: nothing here can fail.
  return fmt::format(
      "{}\n"
      "# Slurm runs it as the job's user before each task, and takes over what it exports: where "
      "jobs report progress.\n"
      "socket={}/agent-$SLURMD_NODENAME.sock\n"
      "[ -S \"$socket\" ] && echo \"export GOBAN_PROGRESS_SOCKET=$socket\"\n"
      "exit 0\n",
      kPrologHead, folder);
}

}  // namespace goban::live::engine::slurm
