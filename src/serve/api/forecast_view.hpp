// Predicted run times and start times of jobs, as JSON and as words.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "live/controller/job_book.hpp"
#include "serve/api/daemon_parts.hpp"

namespace goban::serve::api {

/// {"p10_s", "p50_s", "p90_s", "from", "text"}; only what it rests on if too few runs are known.
[[nodiscard]] nlohmann::json predicted_json(const live::job::PredictedRun& predicted);
/// {"p10_s", "p50_s", "p90_s"} since 1970, without what is beyond what was looked ahead; null if
/// all is.
[[nodiscard]] nlohmann::json start_json(const core::model::StartInterval& start);
/// The forecast of a job that waits; none if there is none yet.
[[nodiscard]] std::optional<core::model::StartInterval> start_of(
    const StartTimes* starts, const live::controller::LiveJob& job);
/// Adds `predicted_run`, `expected_run` of one that reported progress, and `start` of a waiting
/// job, to the JSON of a job.
void put_forecasts(nlohmann::json& out, const live::controller::LiveJob& job,
                   const StartTimes* starts);
/// The same as sentences that follow an explanation; empty if nothing is known.
[[nodiscard]] std::string forecast_words(const live::controller::LiveJob& job,
                                         const StartTimes* starts);

}  // namespace goban::serve::api
