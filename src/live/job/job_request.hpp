// A submission while it is read: directives of the script first, then the command line; what comes
// later replaces what came before. finish() puts it together.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::job {

/// Most tasks of one array.
inline constexpr int32_t kArrayTasksMax = 10'000;

/// Which variables the job gets from the environment of who submits it.
struct EnvironmentWish {
  bool all = true;
  std::vector<std::string> names{};                           ///< if not all: these
  std::vector<std::pair<std::string, std::string>> values{};  ///< NAME = value, in any case
  friend bool operator==(const EnvironmentWish&, const EnvironmentWish&) = default;
};

/// -1 = not said.
struct JobWish {
  JobSpec spec{};  ///< what is said as it is
  int32_t nodes = -1;
  int32_t tasks = -1;  ///< processes
  int32_t tasks_per_node = -1;
  int32_t cores_per_task = -1;
  int32_t slots = -1;          ///< cores of all nodes together
  int32_t gpus = -1;           ///< of all nodes together
  int32_t gpus_per_node = -1;  ///< at most one of these three is said
  int32_t gpus_per_task = -1;
  int64_t mem_per_core_bytes = -1;
  int64_t mem_per_gpu_bytes = -1;
  /// Whose directives there were first: "slurm", "sge", "pbs"; empty = nobody else's. Decides the
  /// variables that the script finds and the usual names of its output files.
  std::string dialect{};
  bool separate_errors = false;        ///< as "sge" and "pbs" do unless told otherwise
  std::vector<int32_t> array_tasks{};  ///< ascending; empty = no array
  EnvironmentWish environment{};
  std::vector<std::string> notes{};  ///< what was read and has no effect, a sentence each
};

/// What goes to the scheduler.
struct Submission {
  JobSpec spec{};  ///< of each task, if it is an array
  std::vector<int32_t> array_tasks{};
  EnvironmentWish environment{};
  std::string dialect{};
};

/// Numbers of nodes, tasks, cores and GPUs become those of the job. Errors: Usage, if they
/// contradict each other or are too large.
[[nodiscard]] base::Result<Submission> finish(JobWish wish);

}  // namespace goban::live::job
