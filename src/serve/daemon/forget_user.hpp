// Removes a user's identity from a state folder: job profiles and evidence of GPU speed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace goban::serve::daemon {

struct ForgottenFiles {
  size_t profiles = 0;  ///< job profiles removed
  size_t voices = 0;    ///< evidence and baselines that were reassigned to an unused user number
};

/// Removes the profiles of the user's applications, and reassigns the evidence of the user's jobs
/// to a random number that belongs to no user, so that the scores do not change. Errors: Failed if
/// a daemon uses the folder, or if a file cannot be read or written; BadData for an invalid file.
[[nodiscard]] base::Result<ForgottenFiles> forget_in_state(const std::string& state, uint32_t uid);

}  // namespace goban::serve::daemon
