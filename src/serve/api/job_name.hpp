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

/// Whether "14_3" is a task of the array "14" there.
[[nodiscard]] constexpr bool is_task_of(std::string_view engine_id, std::string_view array) {
  constexpr std::string_view kDigits = "0123456789";
  if (array.find_first_not_of(kDigits) != array.npos || !engine_id.starts_with(array)) return false;
  engine_id.remove_prefix(array.size());
  return engine_id.size() > 1 && engine_id[0] == '_' &&
         engine_id.find_first_not_of(kDigits, 1) == engine_id.npos;
}

/// None if the text is no number of ours.
[[nodiscard]] std::optional<JobName> parse_job_name(std::string_view text);

}  // namespace goban::serve::api
