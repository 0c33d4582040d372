// JobSpec as JSON: in the journal, in the API and in files. Fields with their default value are
// omitted. Times are in seconds, sizes in bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::job {

[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);
/// Errors: BadData naming the field, if it has the wrong type or an invalid value. Names of unknown
/// fields are added to `unknown`, if given.
[[nodiscard]] base::Result<JobSpec> job_spec_from_json(const nlohmann::json& document,
                                                       std::vector<std::string>* unknown = nullptr);

}  // namespace goban::live::job
