// What somebody asks for when submitting a job. Plain values; the script, its arguments and its
// environment are not here: they are the payload, kept in the job's folder until the job is over.
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
  After,       ///< the other has started
  AfterAny,    ///< the other is over, however it ended
  AfterOk,     ///< the other completed; else this job never runs
  AfterNotOk,  ///< the other is over and did not complete; else this job never runs
};

/// "after", "afterany", "afterok", "afternotok".
[[nodiscard]] std::string_view dependency_name(DependencyKind kind);
[[nodiscard]] std::optional<DependencyKind> parse_dependency_kind(std::string_view name);

struct Dependency {
  DependencyKind kind = DependencyKind::AfterAny;
  JobId job{};
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// How a job wants to be told that it is to stop.
struct StopWish {
  int32_t signal = 0;  ///< sent first, so that the job writes a checkpoint; 0 = none
  TimeNs lead_ns = 0;  ///< so long before SIGTERM
  TimeNs grace_ns = 30 * base::kSecond;  ///< between SIGTERM and SIGKILL
  friend bool operator==(const StopWish&, const StopWish&) = default;
};

/// Who said of what class a job is.
enum class ClassSource : uint8_t {
  Submission,
  Model,     ///< its model is one of those that are known by name
  Measured,  ///< by what earlier runs of its application did with their GPUs
};

/// One job, or one task of an array. Unknown texts are empty.
struct JobSpec {
  std::string name{};
  Owner owner{};
  std::string account{};
  std::string partition{};
  std::string qos{};
  std::string model{};          ///< the application in the co-location history, such as resnet50
  std::string application{};    ///< what its program was recognised as, if it names no model
  std::string resource_type{};  ///< a slice that the site sells; empty = GPUs only
  std::string reservation{};
  int8_t app_class = -1;  ///< sensitivity to slow GPUs: 0 = A, ...; -1 = not known
  ClassSource class_from = ClassSource::Submission;
  int32_t num_gpus = 1;  ///< all instances together; 0 = CPU only
  int32_t instances = 1;
  int32_t cores = 0;      ///< CPU cores of each instance; 0 = its share of the node
  int64_t mem_bytes = 0;  ///< host memory of each instance; 0 = no limit
  int32_t priority = 0;
  TimeNs walltime_limit_ns = 0;  ///< 0 = none
  core::model::TrainingFacts training{};
  std::vector<Dependency> dependencies{};
  JobId array_first{};      ///< of a task of an array: the array's first task; else invalid
  int32_t array_task = -1;  ///< its index; -1 = no task of an array
  int32_t array_limit = 0;  ///< tasks running at once; 0 = no bound
  bool held = false;        ///< waits until it is released
  bool requeue = true;      ///< may be started again after its node or its supervisor failed
  /// May be stopped for others and started again; so may a job that wants a signal before (`stop`).
  bool preemptible = false;
  bool interactive = false;  ///< has a terminal that a client attaches to
  /// Name of the folder with script, arguments and environment; all tasks of an array have one.
  std::string payload{};
  std::string work_folder{};
  std::string stdout_path{};  ///< patterns %j job number, %x name, %u user, %a task are filled in
  std::string stderr_path{};  ///< empty = as stdout
  StopWish stop{};
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// A, the most sensitive one, if it is not known.
[[nodiscard]] inline core::model::AppClass class_of(const JobSpec& spec) {
  return {static_cast<uint8_t>(std::max<int8_t>(0, spec.app_class))};
}

/// Jobs are numbered from 1 for people, arrays as `7_2`.
[[nodiscard]] inline uint64_t job_number(JobId job) { return uint64_t{job.value} + 1; }
[[nodiscard]] std::string job_name_of(JobId job, const JobSpec& spec);

}  // namespace goban::live::job
