// A copy of all that a daemon remembers, taken while it works: a state folder that another
// `goban serve` can start on.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

struct BackupSummary {
  int64_t records = 0;   ///< of the journal since its snapshot
  int64_t payloads = 0;  ///< scripts and environments of jobs that are not over
  bool has_store = false;
  std::string note{};  ///< what is not in it, for a person; empty: nothing
};

/// Copies the state folder of `config` (with its defaults) into the folder `to`, made for its owner
/// alone. Every job that was confirmed before the call is in it. Errors: Failed if `to` has files
/// in it, if there is no journal, or a disk is full; BadData if the journal is damaged.
[[nodiscard]] base::Result<BackupSummary> back_up(const ServeConfig& config, const std::string& to);

}  // namespace goban::serve::daemon
