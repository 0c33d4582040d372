// A job as an accounting system recorded it, and the interface that readers pass such records to.
//
// Every reader fills this record and every consumer takes it: the simulator's job history, the
// analysis, the store. All texts are views that are valid during one call of RecordSink::take only;
// record_table.hpp stores millions of records compactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/model/job.hpp"
#include "site/records/recorded_state.hpp"

namespace goban::site::records {

using base::TimeNs;

/// Maximum number of jobs that one record may stand for.
inline constexpr int32_t kArrayTasksMax = 100'000;

/// A GPU that a job held, with what the source states about it.
struct HeldGpu {
  std::string_view node;
  std::string_view gpu;         ///< its index on the node ("0") or its UUID
  float util_pct = -1;          ///< mean over the job; negative = unknown
  int64_t mem_used_bytes = -1;  ///< peak; -1 = unknown
  int64_t mem_total_bytes = -1;
};

/// What the accounting system itself measured. High-water marks, never means over time (Slurm:
/// "Max" and "Tot" of TRESUsageIn are maxima). The exception is gpu_util_pct_mean.
struct UsageMarks {
  float gpu_util_pct_mean = -1;  ///< over the job, of each of its GPUs
  float gpu_util_pct_max = -1;   ///< maximum utilisation, summed over the GPUs of a task
  int64_t gpu_mem_bytes_max = -1;
  int64_t mem_bytes_max = -1;  ///< resident, of the largest task
  int64_t read_bytes = -1;
  int64_t write_bytes = -1;
  double cpu_s = -1;     ///< CPU seconds of all tasks
  double energy_j = -1;  ///< of its GPUs
  friend bool operator==(const UsageMarks&, const UsageMarks&) = default;
};

/// Unknown texts are empty and unknown numbers -1 unless stated otherwise. Times are nanoseconds
/// since 1970 in UTC (some public traces count from their own start); run time = end - start -
/// suspended time, or work_s.
struct AccountingRecord {
  int64_t line = 0;  ///< of the input, where the record starts; 0 = unknown

  // Identity.
  std::string_view id;      ///< as in the source: `123`, `123_4`, `123+0`
  int64_t job_number = -1;  ///< of the whole array or heterogeneous job
  int64_t array_task = -1;  ///< index of this task
  int32_t het_part = -1;    ///< component of a heterogeneous job
  /// 0 = first; a requeued or rerun job has one record per run. Counted within this input; a table
  /// counts over all of its inputs.
  int32_t run = 0;
  int32_t restarts = -1;  ///< as counted by the source
  std::string_view cluster;
  std::string_view user;
  std::string_view account;  ///< charged: account, project, virtual cluster
  std::string_view group;    ///< of the user: unix group, department
  std::string_view partition;
  std::string_view qos;
  std::string_view reservation;
  std::string_view resource_type;     ///< ABCI's rt_F, rt_G.small; empty = GPUs only
  bool type_may_be_left_out = false;  ///< num_gpus suffices if the cluster lacks the type
  std::string_view job_name;          ///< only if the reader was asked to keep it
  std::string_view command_line;      ///< as job_name
  /// What a live scheduler keeps of the job for its owner, as JSON; kept by stores, never exported.
  std::string_view details;

  // Times and outcome.
  TimeNs submit_ns = -1;
  TimeNs eligible_ns = -1;
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  TimeNs walltime_limit_ns = 0;  ///< 0 = unknown
  TimeNs suspended_ns = 0;       ///< part of end - start in which it was suspended; no run time
  double work_s = -1;            ///< run time if the source gives that instead of start and end
  RecordedState state = RecordedState::Unknown;
  JobKind kind = JobKind::Unknown;
  int32_t exit_code = -1;
  int32_t signal = -1;       ///< 0 = none
  int32_t failed_code = -1;  ///< Grid Engine's `failed`; 0 = success

  // Resources.
  std::optional<int64_t> num_gpus;  ///< of all nodes; MIG instances count one each
  /// If the job requested parts of GPUs: thousandths of a GPU that each of its equal parts holds;
  /// otherwise 0. num_gpus then counts each part rounded up (held_gpus).
  int32_t gpu_milli = 0;
  bool gpu_share = false;     ///< a part of a GPU (share, MIG); num_gpus is rounded up
  std::string_view gpu_type;  ///< `a100`; several joined by '+'
  int64_t instances = 0;      ///< of the resource type; 0 = derived from num_gpus
  int64_t num_nodes = -1;
  int64_t cpu_cores = 0;   ///< of all nodes; 0 = unknown
  int64_t mem_bytes = -1;  ///< of all nodes
  int32_t priority = 0;
  bool stays = false;  ///< must not be preempted
  /// Host names separated by commas, in Slurm's hostlist syntax (`gpu[01-03],login1`).
  std::string_view node_list;
  std::span<const HeldGpu> gpus;               ///< empty = unknown
  std::span<const std::string_view> software;  ///< environment modules, container image
  UsageMarks usage;

  // Present only in synthetic histories and in traces of simulators.
  int32_t array_tasks = 0;  ///< number of equal jobs that the record stands for; 0 = one job
  int32_t array_limit = 0;  ///< maximum number of tasks running at once; 0 = unlimited
  std::string_view model;
  std::string_view app_class;  ///< a letter; empty = by model
  core::model::TrainingFacts training;
  int64_t stage_in_bytes = 0;   ///< to be on the fast storage tier before it starts
  int64_t stage_out_bytes = 0;  ///< to be copied from there when it has ended
  std::string_view data_set;    ///< jobs of the same one stage the same data in

  /// Run time by start and end, which must be known; never negative.
  [[nodiscard]] TimeNs elapsed_ns() const {
    return std::max<TimeNs>(end_ns - start_ns - suspended_ns, 0);
  }
};

/// GPUs held, with parts counted as parts: 10 GPUs of which 500 thousandths each are held count as
/// 5. `num_gpus` below 0 = unknown: one part if gpu_milli is set, otherwise none.
[[nodiscard]] constexpr double held_gpus(int64_t num_gpus, int32_t gpu_milli) {
  if (gpu_milli <= 0) return static_cast<double>(num_gpus < 0 ? 0 : num_gpus);
  constexpr int32_t kMilli = 1000;
  const int32_t gpus_of_part = (gpu_milli - 1) / kMilli + 1;
  const int64_t gpus = num_gpus < 0 ? gpus_of_part : num_gpus;
  return static_cast<double>(gpus) * gpu_milli / (1000.0 * gpus_of_part);
}

/// Properties of an input, passed to a sink before its records.
struct InputFacts {
  std::string_view name;    ///< in messages
  std::string_view format;  ///< of record_formats()
  /// The input has a field for walltime limits, so a job with an empty one requests the default.
  bool has_walltimes = false;
  bool ids_are_rows = false;  ///< ids are row numbers of this input; other inputs use the same ids
};

/// Takes records one by one, in the order of the input.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Takes the record, or returns the reason why not; then nothing has changed and the reader lists
  /// the record as rejected.
  [[nodiscard]] virtual std::string take(const AccountingRecord& record) = 0;
  /// Hint for allocation: the approximate total number of records.
  virtual void expect(size_t /*records*/) {}
  /// The records that follow come from this input.
  virtual void begin_file(const InputFacts& /*facts*/) {}
  /// True if no further record may come.
  [[nodiscard]] virtual bool is_full() const { return false; }
  /// False if the list of rejected records must not show their text, only lines and reasons.
  [[nodiscard]] virtual bool shows_refused() const { return true; }
};

}  // namespace goban::site::records
