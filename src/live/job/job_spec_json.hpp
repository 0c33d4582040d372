// JobSpec as JSON: in the journal, in the API and in files. Fields that have their default are left
// out; times are seconds, sizes bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::job {

[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);
/// Errors: BadData naming the field, if one has the wrong type or a value that no job can have.
/// Fields it does not know go to `unknown`, if given.
[[nodiscard]] base::Result<JobSpec> job_spec_from_json(const nlohmann::json& document,
                                                       std::vector<std::string>* unknown = nullptr);

}  // namespace goban::live::job
