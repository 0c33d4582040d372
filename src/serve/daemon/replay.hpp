// Replays a journal: makes every recorded decision again and compares.
#pragma once

#include <string>

#include "live/loop/commit_cycle.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

struct Replay {
  std::string journal{};  ///< path of the file, or of the folder whose newest journal was replayed
  live::loop::CommitCycle::Fold fold{};
  /// Differences between the given configuration and the recorded one, a line each. If there are
  /// any, different decisions are to be expected.
  std::vector<std::string> differences{};
};

/// `path`: a state folder, its journal folder or one of its files. `config` must be that of the
/// daemon. Read-only. Errors: those of the configuration; Failed if there is no journal; BadData if
/// it is damaged or does not match the configuration (the remedy lists the differences).
[[nodiscard]] base::Result<Replay> replay_journal(const ServeConfig& config,
                                                  const std::string& path);
/// The journals in a state folder or its journal folder, oldest first. Errors: Failed if there is
/// none.
[[nodiscard]] base::Result<std::vector<std::string>> journals_of(const std::string& path);

}  // namespace goban::serve::daemon
