// POST /v1/jobs. Its body: fields of JobSpec, and the payload (script, arguments, environment).
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
  size_t nodes_max = 10'000;  ///< names in a list of nodes
  /// Journal bytes of all tasks of an array: each task has its own record.
  size_t array_bytes_max = size_t{16} << 20;
};

struct SubmitRequest {
  std::vector<live::job::JobSpec> jobs{};  ///< one, or the tasks of an array; without owner
  std::string payload{};                   ///< {"script", "args", "env", "dialect"}
  std::string user{};                      ///< owner of the job; empty = the caller
};

/// Errors: BadData with the field: unknown, missing, too large, of the wrong type, or set by the
/// server only (owner, payload, array_first, array_task).
[[nodiscard]] base::Result<SubmitRequest> parse_submit_request(std::string_view body,
                                                               const SubmitLimits& limits = {});

/// Checks untrusted JSON: it must be valid and not nested deeper than any request.
/// Errors: BadData; no message contains the text.
[[nodiscard]] base::Status check_json(std::string_view text);

}  // namespace goban::serve::api
