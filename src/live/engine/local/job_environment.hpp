// What a job finds in its environment: what its user gave, then what schedulers' conventions say.
#pragma once

#include <string>
#include <vector>

#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

/// What the supervisor adds.
struct RunPlaces {
  std::string progress_socket{};
  std::string key{};  ///< marks every process of the run
  std::string home{}, shell{};
  std::string work_folder{};
  uint16_t master_port = 0;
};

/// `NAME=value` entries, each name once. The scheduler's own win over the user's.
[[nodiscard]] std::vector<std::string> job_environment(const RunOrder& order,
                                                       const Payload& payload,
                                                       const RunPlaces& places);

/// Name of the variable that holds RunPlaces::key.
inline constexpr const char* kKeyVariable = "GOBAN_RUN_KEY";

/// Where the output goes; an empty `err` = into the same file.
struct OutputPaths {
  std::string out{};
  std::string err{};
};
[[nodiscard]] OutputPaths output_paths(const job::JobSpec& spec, core::model::JobId job);

}  // namespace goban::live::engine::local
