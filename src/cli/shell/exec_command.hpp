// Replaces this program by another one.
#pragma once

#include <string>
#include <vector>

namespace goban::cli {

/// Runs a command, found by PATH, in the place of this process. Returns only if that fails: the
/// exit code, after a message. `words` has at least one.
[[nodiscard]] int exec_command(std::vector<std::string> words);

}  // namespace goban::cli
