// Run reports as JSON: one field table per struct, for the journal, the files of runs and the API.
// Field names are those of the API, version 1. Unknown values are omitted. The names and forms of
// release 0.1 are still read.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.hpp"
#include "base/reports/run_reports.hpp"

namespace goban::base::reports {

[[nodiscard]] nlohmann::json to_json(const ProgressReport& progress);
[[nodiscard]] nlohmann::json to_json(const RunUsage& usage);
[[nodiscard]] nlohmann::json to_json(const RunPace& pace);
[[nodiscard]] nlohmann::json to_json(const std::vector<RankTimes>& ranks);
[[nodiscard]] nlohmann::json to_json(const RunProgress& progress);

/// Read the fields of `in`; absent fields leave their values unchanged. Errors are recorded in
/// `in`.
void read_fields(FieldReader& in, ProgressReport& progress);
void read_fields(FieldReader& in, RunUsage& usage);
void read_fields(FieldReader& in, RunProgress& progress);
/// The field `pace`.
void read_pace(FieldReader& in, RunPace& pace);
/// The list in the field `ranks`.
void read_ranks(FieldReader& in, std::vector<RankTimes>& ranks);

}  // namespace goban::base::reports
