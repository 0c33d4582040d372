// The body of POST /v1/jobs: fields of JobSpec, and the payload (script, arguments, environment).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

struct SubmitLimits {
  size_t script_bytes_max = size_t{1} << 20;
  size_t argument_count_max = 4096;
  size_t env_count_max = 4096;
  size_t text_bytes_max = 256;  ///< names: of the job, its account, ...
  size_t path_bytes_max = 4095;
  size_t array_tasks_max = 10'000;
  size_t dependencies_max = 1000;
  /// What is written down for all tasks of an array: each has a record of its own.
  size_t array_bytes_max = size_t{16} << 20;
};

struct SubmitRequest {
  std::vector<live::job::JobSpec> jobs{};  ///< one, or the tasks of an array; without owner
  std::string payload{};                   ///< {"script", "args", "env", "dialect"}
  std::string user{};                      ///< whose it shall be; empty = who asks
};

/// Errors: BadData naming the field: what is unknown, missing, too large, of a wrong type; what
/// nobody may set: owner, payload, array_first, array_task.
[[nodiscard]] base::Result<SubmitRequest> parse_submit_request(std::string_view body,
                                                               const SubmitLimits& limits = {});

/// A JSON document from outside: valid, not nested deeper than any request is.
/// Errors: BadData; the text is in no message.
[[nodiscard]] base::Status check_json(std::string_view text);

}  // namespace goban::serve::api
