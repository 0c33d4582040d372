// Forgets a user in a state folder: job profiles, and what the user's jobs reported of GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace goban::serve::daemon {

struct ForgottenFiles {
  size_t profiles = 0;  ///< files of applications that are gone
  size_t voices = 0;    ///< runs and applications that are somebody's now whom nobody knows
};

/// Removes profiles of the user's applications, and gives what his jobs said of GPUs to a number
/// that is no user's, so that scores stay as they are. Errors: Failed if a daemon works on the
/// folder, or if a file cannot be read or written; BadData for a file that is none.
[[nodiscard]] base::Result<ForgottenFiles> forget_in_state(const std::string& state, uint32_t uid);

}  // namespace goban::serve::daemon
