// goban wait, for commands that wait after what they do.
#pragma once

#include <cstdint>
#include <string>

namespace goban::cli {

/// Waits until the job, or all tasks of the array whose first task it is, have finished. Prints
/// errors only. Returns the exit code of goban wait.
[[nodiscard]] int wait_for_job(const std::string& server, uint32_t job);

}  // namespace goban::cli
