// The process that runs one job and outlives the daemon: `goban supervise FOLDER`. It takes the
// order in the folder, or refuses if another one did; starts the job; carries a stop out to its
// end; and writes how it ended when nothing of the run is left.
#pragma once

#include <string>

namespace goban::live::engine::local {

/// Exit codes of a supervisor, for those who look on.
inline constexpr int kSupervised = 0;
inline constexpr int kNotOurs = 3;  ///< this run was started already, or must not be

/// Runs the job of a run folder. Closes all files but the standard ones, changes signals: call it
/// in a process that does nothing else. Returns the exit code.
[[nodiscard]] int supervise(const std::string& folder);

}  // namespace goban::live::engine::local
