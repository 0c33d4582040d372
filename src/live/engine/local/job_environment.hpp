// The environment of a job: variables of its user, then variables by schedulers' conventions.
#pragma once

#include <string>
#include <vector>

#include "live/engine/local/run_order.hpp"

namespace goban::live::engine::local {

/// Values added by the supervisor.
struct RunPlaces {
  std::string progress_socket{};
  std::string key{};  ///< identifies the processes of the run
  std::string home{}, shell{};
  std::string work_folder{};
  uint16_t master_port = 0;
};

/// `NAME=value` entries with unique names. The scheduler's values override the user's.
[[nodiscard]] std::vector<std::string> job_environment(const RunOrder& order,
                                                       const Payload& payload,
                                                       const RunPlaces& places);

/// Name of the variable that holds RunPlaces::key.
inline constexpr const char* kKeyVariable = "GOBAN_RUN_KEY";

/// Output files; an empty `err` = the same file as `out`.
struct OutputPaths {
  std::string out{};
  std::string err{};
};
[[nodiscard]] OutputPaths output_paths(const job::JobSpec& spec, core::model::JobId job);

}  // namespace goban::live::engine::local
