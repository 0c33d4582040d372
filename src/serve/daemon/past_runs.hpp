// Run times of the site's ended jobs, from the history store, to predict those of new jobs from.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/controller/forecasts.hpp"

namespace goban::serve::daemon {

/// The jobs that ran, were submitted at or after `from_ns`, and have ended; at most the last
/// 100,000. Errors: those of the store.
[[nodiscard]] base::Result<std::vector<live::controller::EarlierJob>> read_past_runs(
    const std::string& store, base::TimeNs from_ns);

}  // namespace goban::serve::daemon
