// A submission while it is being read: first the directives in the head of its script, `#GOBAN` and
// those of Slurm (`#SBATCH`), Grid Engine (`#$`) and PBS (`#PBS`), so that existing scripts run
// unchanged; then the command line. Later values replace earlier ones. finish() completes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::job {

/// Variables that the job gets from the environment of its submission.
struct EnvironmentRequest {
  bool all = true;
  std::vector<std::string> names{};                           ///< if not all: only these
  std::vector<std::pair<std::string, std::string>> values{};  ///< NAME = value, always set
  friend bool operator==(const EnvironmentRequest&, const EnvironmentRequest&) = default;
};

/// A directive, or a part of one, that is ignored.
struct UnreadDirective {
  int line = 0;
  std::string text{};
  std::string why{};
  bool in_part = false;  ///< it was read; `why` says what is ignored of it
};

/// What the submitting command does, as `#SBATCH --wait` asks for.
struct SubmitManner {
  bool wait = false;       ///< returns when the job has ended, with its exit code
  bool quiet = false;      ///< prints errors only
  bool parsable = false;   ///< prints the number only
  bool test_only = false;  ///< says when the job would start, and does not submit it
};

/// Options and directives of a submission; -1 = not given.
struct SubmitDirectives {
  JobSpec spec{};  ///< of each task if it is an array; until finish() without values to convert
  int32_t nodes = -1;
  int32_t tasks = -1;  ///< processes
  int32_t tasks_per_node = -1;
  int32_t cores_per_task = -1;
  int32_t slots = -1;          ///< cores of all nodes together
  int32_t gpus = -1;           ///< of all nodes together
  int32_t gpus_per_node = -1;  ///< gpus and gpus_per_node exclude each other
  int32_t gpus_per_task = -1;  ///< with one of them: they determine the number of tasks
  int32_t tasks_per_gpu = -1;
  int32_t cores_per_gpu = -1;
  int64_t mem_per_core_bytes = -1;
  int64_t mem_per_gpu_bytes = -1;
  /// System of the first foreign directive: "slurm", "sge", "pbs"; empty = none. Determines the
  /// environment variables of the script and the default names of its output files.
  std::string dialect{};
  bool separate_errors = false;        ///< the default of "sge" and "pbs"
  std::vector<int32_t> array_tasks{};  ///< ascending; empty = no array
  int32_t array_step = 1;              ///< of a single range
  SubmitManner manner{};
  EnvironmentRequest environment{};
  std::vector<std::string> notes{};  ///< values that were read and are ignored, a sentence each
  std::vector<UnreadDirective> unread{};  ///< of the script, by line
};

/// Reads the lines up to the first one that is neither empty nor a comment. Later lines override
/// earlier ones. `name`: name of the script in errors. Errors: BadData with the line, for an
/// invalid value of a known option, for unknown options of #GOBAN, and for options whose omission
/// would change the job (heterogeneous jobs, unsupported dependencies).
[[nodiscard]] base::Result<SubmitDirectives> read_directives(std::string_view script,
                                                             const std::string& name);

/// Computes the GPUs, instances, cores and memory of `spec` from the given numbers, and names its
/// output files. The number of tasks is completed where GPUs determine it. Errors: Usage if the
/// numbers are too large or contradict each other.
[[nodiscard]] base::Result<SubmitDirectives> finish(SubmitDirectives request);

/// Forgets the GPUs that directives requested: the command line requests others.
void forget_gpus(SubmitDirectives& request);

}  // namespace goban::live::job
