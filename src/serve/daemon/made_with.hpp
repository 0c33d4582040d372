// What the decisions of a daemon are made with, as its journal says it: so that a replay with
// something else can tell what differs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/journal/journal_text.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

/// Policy with its settings, seed, GPUs, and digests of the cluster, the scores, and the files of
/// the configuration. Errors: Failed if a file cannot be read.
[[nodiscard]] base::Result<live::journal::InputFacts> made_with(const ServeConfig& config,
                                                                const live::controller::Site& site);
/// A line for each fact that was another, such as "policy: fifo+packed then, goban now". Facts that
/// one side does not know are left out.
[[nodiscard]] std::vector<std::string> differences(const live::journal::InputFacts& then,
                                                   const live::journal::InputFacts& now);

}  // namespace goban::serve::daemon
