// Orders and reports of copies as JSON: in the journal, and between daemon and copying process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.hpp"
#include "live/staging.hpp"

namespace goban::live {

[[nodiscard]] nlohmann::json to_json(const StageOrder& order);
void read_fields(base::FieldReader& in, StageOrder& order);
[[nodiscard]] nlohmann::json to_json(const StageReport& report);
void read_fields(base::FieldReader& in, StageReport& report);

}  // namespace goban::live
