// Starts programs without a shell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::base {

/// What the program has in common with this one.
enum class SpawnGroup : uint8_t {
  Same,        ///< process group: a Ctrl-C of the terminal ends both
  Own,         ///< no process group, so that it can be killed with its children
  OwnSession,  ///< nothing: also a session of its own, no signal blocked or ignored
};

struct SpawnOptions {
  std::optional<std::vector<std::string>>
      environment{};  ///< NAME=value; otherwise that of this process
  int in = -1;        ///< open file for its standard input; -1: nothing to read
  int out = -1;       ///< open file for its standard output; -1: /dev/null
  int err = -1;       ///< the same for its standard error
  SpawnGroup group = SpawnGroup::Same;
};

/// Starts `words[0]`, looked up in $PATH if it has no slash, with the arguments after it. Returns
/// its process id, or 0 with errno. The caller waits for it.
[[nodiscard]] pid_t spawn(std::vector<std::string> words, SpawnOptions options = {});

/// Waits until this child has ended, whatever signals come. Returns its status as waitpid() does.
int wait_for(pid_t child);

}  // namespace goban::base
