// Backs up the state of a running daemon: the copy is a state folder that another `goban serve` can
// start from.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

struct BackupSummary {
  int64_t records = 0;   ///< journal records since its snapshot
  int64_t payloads = 0;  ///< scripts and environments of unfinished jobs
  bool has_store = false;
  std::string note{};  ///< for users: what the copy does not contain; empty = it is complete
};

/// Copies the state folder of `config` (with its defaults) into the folder `to`, which only its
/// owner may read. It contains every job that was confirmed before the call. Errors: Failed if `to`
/// is not empty, if there is no journal, or a disk is full; BadData if the journal is damaged.
[[nodiscard]] base::Result<BackupSummary> back_up(const ServeConfig& config, const std::string& to);

}  // namespace goban::serve::daemon
