// What engines report of runs as JSON: shared by inputs and snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.hpp"
#include "live/engine.hpp"

namespace goban::live::controller {

[[nodiscard]] nlohmann::json usage_json(const RunUsage& usage);
void read_usage(base::FieldReader& in, RunUsage& usage);
[[nodiscard]] nlohmann::json progress_json(const ProgressNews& news);
void read_progress(base::FieldReader& in, ProgressNews& news);
[[nodiscard]] nlohmann::json ranks_json(const std::vector<RankTimes>& ranks);
/// The list in the field `ranks`.
void read_ranks(base::FieldReader& in, std::vector<RankTimes>& ranks);
[[nodiscard]] nlohmann::json pace_json(const RunPace& pace);
void read_pace(base::FieldReader& in, RunPace& pace);

}  // namespace goban::live::controller
