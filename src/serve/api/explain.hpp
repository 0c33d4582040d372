// Why a job waits, or runs where it runs, as JSON with a sentence for a person.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "serve/api/scheduler_client.hpp"

namespace goban::serve::api {

/// While the scheduler waits. Cost: a placement search at most.
[[nodiscard]] nlohmann::json explain_job(const SchedulerSnapshot& snapshot,
                                         const live::controller::LiveJob& job);

}  // namespace goban::serve::api
