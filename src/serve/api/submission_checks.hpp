// What the body of a request must keep to before it is used, above all that of a submission: sizes,
// types, and texts without control characters. Errors of all: BadData with the field.
#pragma once

#include <nlohmann/json_fwd.hpp>
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

/// The error of a field of the body.
[[nodiscard]] tl::unexpected<base::Error> bad_field(std::string field, std::string message,
                                                    std::string remedy = {});

/// Checks untrusted JSON: it must be valid and not nested deeper than any request.
/// Errors: BadData; no message contains the text.
[[nodiscard]] base::Status check_json(std::string_view text);

/// The script, its arguments and its environment, in the body of a submission.
[[nodiscard]] base::Status check_script(const nlohmann::json& body, const SubmitLimits& limits);
[[nodiscard]] base::Status check_environment(const nlohmann::json& body,
                                             const SubmitLimits& limits);
/// Fields that only the server sets, and those that no submission has.
[[nodiscard]] base::Status check_fields(const nlohmann::json& body,
                                        const std::vector<std::string>& unknown);
/// Names, paths and lists of a job.
[[nodiscard]] base::Status check_texts(const live::job::JobSpec& spec, const SubmitLimits& limits);
[[nodiscard]] base::Status check_array_bytes(const live::job::JobSpec& spec, size_t tasks,
                                             const SubmitLimits& limits);

}  // namespace goban::serve::api
