// From records to a JobHistory: the rules every format shares, and the limits of the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.hpp"
#include "model/job.hpp"
#include "records/id_set.hpp"

namespace goban::history {

/// One record as its format understood it; the views are valid during the call only.
struct JobRecord {
  std::string_view id;
  std::string_view user;
  std::string_view model;
  std::string_view account;
  std::string_view partition;
  std::string_view qos;
  std::string_view resource_type;  ///< empty = GPUs only
  model::TimeNs submit_ns = 0;
  model::TimeNs walltime_limit_ns = 0;  ///< 0 = none given
  double work_s = 0;
  std::optional<int64_t> num_gpus;  ///< of all instances; may be left to the resource type
  int64_t cpu_cores = 0;            ///< of a job without GPUs; 0 = not known
  int64_t instances = 0;            ///< 0 = follows from num_gpus
  int32_t priority = 0;
  int32_t array_tasks = 0;                   ///< 0 = not an array
  int32_t array_limit = 0;                   ///< tasks running at once; 0 = no bound
  std::optional<model::AppClass> app_class;  ///< else by model
  bool gpu_share = false;                    ///< asked for a part of a GPU; num_gpus is rounded up
  model::Recorded recorded;
  model::TrainingFacts training;
};

/// What to do with a job that has neither GPUs nor a resource type, if the cluster has no resource
/// type without GPUs: it could not be placed.
enum class CpuJobs : uint8_t {
  LeaveOut,  ///< count it
  Keep,      ///< as a job of 0 GPUs, for histories that are looked at only
};

/// Jobs that were taken in another form than they asked for.
struct JobCounts {
  int64_t cpu_jobs = 0;              ///< without GPUs and without a resource type of their own
  int64_t cpu_jobs_left_out = 0;     ///< of these, not in the history
  int64_t gpu_shares = 0;            ///< asked for a part of a GPU, got a whole one
  int64_t impossible_deadlines = 0;  ///< before the work alone is over
};

/// Collects jobs. A cluster, if given, must outlive the builder.
class HistoryBuilder {
 public:
  static constexpr int32_t kArrayTasksMax = 100'000;

  /// `walltimes_known`: the input has a place for limits, so a job that leaves it empty gets the
  /// default of its resource type. Otherwise limits are unknown and nobody gets one.
  HistoryBuilder(const model::Cluster* cluster, bool walltimes_known, size_t jobs_max,
                 CpuJobs cpu_jobs = CpuJobs::LeaveOut);

  /// Room for about so many jobs in all, their names like those so far.
  void reserve(size_t jobs);

  /// Takes the record; or says why not, and nothing has changed. Empty = taken. A job without GPUs
  /// and resource type becomes the smallest resource type without GPUs that holds its cores, or
  /// enough instances of the largest; without such types `cpu_jobs` says what happens to it.
  [[nodiscard]] std::string add(const JobRecord& record);

  [[nodiscard]] bool is_sorted() const { return sorted_; }
  [[nodiscard]] bool is_full() const { return history_.jobs.size() >= jobs_max_; }
  [[nodiscard]] size_t size() const { return history_.jobs.size(); }
  [[nodiscard]] const JobCounts& counts() const { return counts_; }

  /// The history in submit order; equal times keep the order of the input.
  [[nodiscard]] model::JobHistory finish();

 private:
  [[nodiscard]] std::string set_resources(const JobRecord& record, model::JobRequest& request);
  [[nodiscard]] std::string set_typed_resources(const JobRecord& record,
                                                model::JobRequest& request);
  [[nodiscard]] std::string add_cpu_only(const JobRecord& record);
  [[nodiscard]] std::string take(const JobRecord& record);
  [[nodiscard]] std::string add_array(const JobRecord& record, model::Job job);
  [[nodiscard]] model::AppClass class_of(model::ModelId model);
  void push(std::string_view id, const model::Job& job, const JobRecord& record);

  const model::Cluster* cluster_;
  bool walltimes_known_;
  size_t jobs_max_;
  CpuJobs cpu_jobs_;
  JobCounts counts_;
  std::vector<size_t> cpu_types_;       ///< resource types without GPUs, by cores
  std::vector<int64_t> instances_max_;  ///< by resource type: how many the empty cluster holds
  model::JobHistory history_;
  std::vector<model::AppClass> class_of_model_;
  records::IdSet ids_;
  bool sorted_ = true;
};

}  // namespace goban::history
