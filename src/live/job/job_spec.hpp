// The specification of a submitted job, as plain values. The script, its arguments and its
// environment are the payload, which is stored separately until the job is finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/model/job.hpp"

namespace goban::live::job {

using base::TimeNs;
using core::model::JobId;

/// The Unix user a job runs as.
struct Owner {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string user{};
  friend bool operator==(const Owner&, const Owner&) = default;
};

enum class DependencyKind : uint8_t {
  After,       ///< the other job has started
  AfterAny,    ///< the other job is finished, with any result
  AfterOk,     ///< the other job completed; otherwise this job never runs
  AfterNotOk,  ///< the other job is finished and did not complete; otherwise this job never runs
};

/// "after", "afterany", "afterok", "afternotok".
[[nodiscard]] std::string_view dependency_name(DependencyKind kind);
[[nodiscard]] std::optional<DependencyKind> parse_dependency_kind(std::string_view name);

struct Dependency {
  DependencyKind kind = DependencyKind::AfterAny;
  JobId job{};
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// How a job is to be stopped.
struct StopRequest {
  int32_t signal = 0;  ///< sent first, so that the job writes a checkpoint; 0 = none
  TimeNs lead_ns = 0;  ///< time between the signal and SIGTERM
  TimeNs grace_ns = 30 * base::kSecond;  ///< between SIGTERM and SIGKILL
  friend bool operator==(const StopRequest&, const StopRequest&) = default;
};

/// Source of a job's application class.
enum class ClassSource : uint8_t {
  Submission,
  Model,     ///< derived from a known model name
  Measured,  ///< inferred from earlier runs of its application
};

/// One job, or one task of an array. Unknown strings are empty.
struct JobSpec {
  std::string name{};
  Owner owner{};
  std::string account{};
  std::string partition{};
  std::string qos{};
  std::string model{};          ///< the application in the co-location history, such as resnet50
  std::string application{};    ///< the recognised program, if no model is given
  std::string resource_type{};  ///< resource type of the site; empty = GPUs only
  std::string reservation{};
  int8_t app_class = -1;  ///< sensitivity to slow GPUs: 0 = A, ...; -1 = unknown
  ClassSource class_from = ClassSource::Submission;
  int32_t num_gpus = 1;  ///< total of all instances; 0 = CPU only
  int32_t instances = 1;
  int32_t cores = 0;      ///< CPU cores of each instance; 0 = its share of the node
  int64_t mem_bytes = 0;  ///< host memory of each instance; 0 = no limit
  int32_t priority = 0;
  TimeNs walltime_limit_ns = 0;  ///< 0 = none
  core::model::TrainingFacts training{};
  std::vector<Dependency> dependencies{};
  JobId array_first{};      ///< the first task of its array; invalid if it is not an array task
  int32_t array_task = -1;  ///< its index; -1 = not an array task
  int32_t array_limit = 0;  ///< maximum number of tasks running at once; 0 = no limit
  bool held = false;        ///< not eligible until it is released
  bool requeue = true;      ///< may be requeued after its node or supervisor failed
  /// May be preempted and restarted. A job with a stop signal (`stop`) is preemptible, too.
  bool preemptible = false;
  bool interactive = false;  ///< has a terminal that a client can attach to
  /// Name of the folder with script, arguments and environment; all tasks of an array share it.
  std::string payload{};
  std::string work_folder{};
  std::string
      stdout_path{};  ///< patterns, see output_path.hpp: %j job number, %x name, %u user, %a task
  std::string stderr_path{};  ///< empty = the same file as stdout
  StopRequest stop{};
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// A, the most sensitive class, if it is unknown.
[[nodiscard]] inline core::model::AppClass class_of(const JobSpec& spec) {
  return {static_cast<uint8_t>(std::max<int8_t>(0, spec.app_class))};
}

/// Displayed job numbers start from 1; array tasks are written `7_2`.
[[nodiscard]] inline uint64_t job_number(JobId job) { return uint64_t{job.value} + 1; }
[[nodiscard]] std::string job_name_of(JobId job, const JobSpec& spec);

}  // namespace goban::live::job
