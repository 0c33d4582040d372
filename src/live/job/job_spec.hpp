// The specification of a submitted job, as plain values. The script, its arguments and its
// environment are the payload, which is stored separately until the job is finished.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/model/job.hpp"

namespace goban::live::job {

using base::TimeNs;
using core::model::JobId;

/// Whom a job belongs to: the Unix user it runs as, or a user of another realm, which has no uid.
struct Owner {
  uint32_t uid = 0;  ///< of this machine; no user of another realm has one
  uint32_t gid = 0;
  std::string user{};
  std::string realm{};  ///< who names the user; empty: this machine's Unix users
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// What tells owners apart: the uid of a Unix user, realm and name of any other.
struct OwnerKey {
  std::string realm{};
  uint32_t uid = 0;
  std::string user{};  ///< empty for Unix users
  friend auto operator<=>(const OwnerKey&, const OwnerKey&) = default;
};
[[nodiscard]] OwnerKey key_of(const Owner& owner);
/// The name by which rules and accounts know the owner: `user`, or `realm/user`. No Unix user has
/// a slash in its name.
[[nodiscard]] std::string full_name(const Owner& owner);

enum class DependencyKind : uint8_t {
  After,       ///< the other job has started
  AfterAny,    ///< the other job is finished, with any result
  AfterOk,     ///< the other job completed; otherwise this job never runs
  AfterNotOk,  ///< the other job is finished and did not complete; otherwise this job never runs
  Singleton,   ///< no earlier job of this name and user is unfinished, and no later one has GPUs
};

/// "after", "afterany", "afterok", "afternotok", "singleton".
[[nodiscard]] std::string_view dependency_name(DependencyKind kind);
[[nodiscard]] std::optional<DependencyKind> parse_dependency_kind(std::string_view name);

struct Dependency {
  DependencyKind kind = DependencyKind::AfterAny;
  JobId job{};  ///< not with Singleton
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// How a job is to be stopped.
struct StopRequest {
  int32_t signal = 0;  ///< sent first, so that the job writes a checkpoint; 0 = none
  TimeNs lead_ns = 0;  ///< time between the signal and SIGTERM
  TimeNs grace_ns = 30 * base::kSecond;  ///< between SIGTERM and SIGKILL
  friend bool operator==(const StopRequest&, const StopRequest&) = default;
};

/// What is copied when the job has ended.
struct StageOut {
  std::string from{};  ///< relative to the job's folder on the fast tier, $GOBAN_FAST
  std::string to{};    ///< relative to the work folder
  friend bool operator==(const StageOut&, const StageOut&) = default;
};

/// What a run does with output files that exist.
enum class OpenMode : uint8_t {
  Unsaid,    ///< the first run overwrites them, later runs append
  Append,    ///< every run appends
  Truncate,  ///< every run overwrites them
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
  std::string gpu_model{};  ///< its GPUs are of this model, see node_choice.hpp; empty = any
  std::vector<std::string> node_list{};      ///< it runs on all of these; empty = any
  std::vector<std::string> exclude_nodes{};  ///< it runs on none of these
  int8_t app_class = -1;                     ///< sensitivity to slow GPUs: 0 = A, ...; -1 = unknown
  ClassSource class_from = ClassSource::Submission;
  int32_t num_gpus = 1;  ///< total of all instances; 0 = CPU only
  int32_t instances = 1;
  /// Without a resource type: its GPUs have the same indices on the node of every instance.
  bool equal_indices = false;
  int32_t cores = 0;      ///< CPU cores of each instance; 0 = its share of the node
  int64_t mem_bytes = 0;  ///< host memory of each instance; 0 = no limit
  int32_t priority = 0;
  TimeNs walltime_limit_ns = 0;  ///< 0 = none
  TimeNs begin_ns = 0;           ///< not eligible before, since 1970; 0 = at once
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
  uint32_t umask = 022;  ///< of its processes: that of its submission
  std::string
      stdout_path{};  ///< patterns, see output_path.hpp: %j job number, %x name, %u user, %a task
  std::string stderr_path{};  ///< empty = the same file as stdout
  std::string stdin_path{};   ///< a pattern, too; empty = no input
  OpenMode open_mode = OpenMode::Unsaid;
  std::string script_path{};  ///< of the submitted script; to be shown only
  uint32_t script_hash = 0;   ///< of the text of script or command, for predictions; 0 = unknown
  StopRequest stop{};
  /// Files or folders that are on the fast tier before it starts; relative to the work folder.
  std::vector<std::string> stage_in{};
  std::vector<StageOut> stage_out{};
  bool stage_out_always = false;  ///< also if it did not complete
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

/// A, the most sensitive class, if it is unknown.
[[nodiscard]] inline core::model::AppClass class_of(const JobSpec& spec) {
  return {static_cast<uint8_t>(std::max<int8_t>(0, spec.app_class))};
}

/// Displayed job numbers start from 1; array tasks are written `7_2`.
[[nodiscard]] inline uint64_t job_number(JobId job) { return uint64_t{job.value} + 1; }
[[nodiscard]] std::string job_name_of(JobId job, const JobSpec& spec);

/// As JSON: in the journal, in the API and in files. Fields with their default value are omitted.
/// Times are in seconds, sizes in bytes.
[[nodiscard]] nlohmann::json to_json(const JobSpec& spec);
/// Errors: BadData naming the field, if it has the wrong type or an invalid value. Names of unknown
/// fields are added to `unknown`, if given.
[[nodiscard]] base::Result<JobSpec> job_spec_from_json(const nlohmann::json& document,
                                                       std::vector<std::string>* unknown = nullptr);

}  // namespace goban::live::job
