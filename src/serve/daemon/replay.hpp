// A journal folded again: every decision that was recorded, made once more and compared.
#pragma once

#include <string>

#include "live/loop/commit_cycle.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

struct Replay {
  std::string journal{};  ///< path of the file, or of the folder whose newest it is
  live::loop::Turns::Fold fold{};
  /// What was not as in the given configuration when records were made, a line each; decisions
  /// that come out otherwise are no surprise then.
  std::vector<std::string> differences{};
};

/// `path`: a state folder, its journal folder or one of its files. The configuration has to be that
/// of the daemon. Nothing is changed. Errors: those of the configuration; Failed if there is no
/// journal; BadData if it is damaged or does not fit (with the differences as its remedy).
[[nodiscard]] base::Result<Replay> replay_journal(const ServeConfig& config,
                                                  const std::string& path);
/// The journals of a state folder, or of its journal folder, that are there, oldest first. Errors:
/// Failed if there is none.
[[nodiscard]] base::Result<std::vector<std::string>> journals_of(const std::string& path);

}  // namespace goban::serve::daemon
