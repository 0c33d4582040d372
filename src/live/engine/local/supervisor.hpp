// The process that runs one job and outlives the daemon: `goban supervise FOLDER`. It takes the
// order in the folder unless another supervisor did, starts the job, carries out stops, and writes
// the status when no process of the run is left.
#pragma once

#include <string>

namespace goban::live::engine::local {

/// Exit codes of a supervisor.
inline constexpr int kSupervised = 0;
inline constexpr int kNotOurs = 3;  ///< this run was started already, or must not be started

/// Runs the job of a run folder. Closes all files but the standard ones and changes signal
/// handling: call it in a process of its own. Returns the exit code.
[[nodiscard]] int supervise(const std::string& folder);

}  // namespace goban::live::engine::local
