// Why a job waits, or why it got its GPUs: JSON with a sentence for users.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// Called while the scheduler is blocked. Cost: at most one placement search.
[[nodiscard]] nlohmann::json explain_job(const live::loop::SchedulerSnapshot& snapshot,
                                         const live::controller::LiveJob& job);

}  // namespace goban::serve::api
