// The environment of a job: variables of its user, then variables by schedulers' conventions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "live/engine/local/as_user.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

/// What the supervisor adds to the order and payload of a run.
struct RunPlaces {
  UserFacts user{};
  std::string work_folder{};
  std::string progress_socket{};
  std::string key{};  ///< identifies the processes of the run
  uint16_t master_port = 0;
  std::string terminal{};       ///< device of a pseudo-terminal that replaces the output files
  std::vector<int32_t> cpus{};  ///< empty: any
  std::vector<std::string> cgroup_procs{};  ///< files `cgroup.procs` to join
  /// Derived from the machine; a variable that the user has set stays.
  std::map<std::string, std::string> nccl{};
};

/// `NAME=value` entries with unique names. The scheduler's values override the user's,
/// except RunPlaces::nccl.
[[nodiscard]] std::vector<std::string> job_environment(const RunOrder& order,
                                                       const Payload& payload,
                                                       const RunPlaces& places);

/// Name of the variable that holds RunPlaces::key.
inline constexpr const char* kKeyVariable = "GOBAN_RUN_KEY";

/// A port without a listener. The search starts at a port derived from the job number.
[[nodiscard]] uint16_t free_port(uint64_t job);

}  // namespace goban::live::engine::local
