// Why a job waits, or runs where it runs, as JSON with a sentence for a person.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "service/desk.hpp"

namespace goban::service {

/// While the scheduler waits. Cost: a placement search at most.
[[nodiscard]] nlohmann::json explain_job(const Scene& scene, const live::LiveJob& job);

}  // namespace goban::service
