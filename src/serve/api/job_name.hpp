// Names of jobs in paths and queries: "7" is a job or an array, "7_2" task 2 of array 7; "@12" is
// the job with this id in the cluster's own queue.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/ids.hpp"

namespace goban::serve::api {

struct JobName {
  core::model::JobId first{};  ///< the job, or the first task of the array
  std::optional<int64_t> task{};
};

/// The id of a name in the cluster's own queue, without its '@'; empty: it is none.
[[nodiscard]] constexpr std::string_view engine_id_of(std::string_view name) {
  return name.starts_with('@') ? name.substr(1) : std::string_view{};
}

/// None if the text is no number of ours.
[[nodiscard]] std::optional<JobName> parse_job_name(std::string_view text);

}  // namespace goban::serve::api
