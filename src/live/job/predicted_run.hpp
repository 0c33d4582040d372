// The run time that was predicted when a job was submitted. It is journaled with the submission, so
// that a replay decides alike whatever this release would predict.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.hpp"
#include "core/knowledge/durations/duration_forecast.hpp"

namespace goban::live::job {

struct PredictedRun {
  core::model::RunForecast run{};  ///< unknown if too few runs had ended
  core::knowledge::DurationBasis basis = core::knowledge::DurationBasis::Unknown;
  friend bool operator==(const PredictedRun&, const PredictedRun&) = default;
};

/// Times are integer nanoseconds.
[[nodiscard]] nlohmann::json to_json(const core::model::RunForecast& run);
void read_fields(base::FieldReader& in, core::model::RunForecast& run);
[[nodiscard]] nlohmann::json to_json(const PredictedRun& predicted);
void read_fields(base::FieldReader& in, PredictedRun& predicted);

}  // namespace goban::live::job
