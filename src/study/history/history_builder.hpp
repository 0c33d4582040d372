// Builds a JobHistory from records: the rules that all formats share, and the limits of the
// cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "site/records/accounting_record.hpp"
#include "site/records/id_set.hpp"

namespace goban::study::history {

using site::records::AccountingRecord;

/// What to do with a job that has neither GPUs nor a resource type, if the cluster has no resource
/// type without GPUs. Such a job cannot be placed.
enum class CpuJobs : uint8_t {
  LeaveOut,  ///< count and exclude it
  Keep,      ///< as a job of 0 GPUs, for histories that are only inspected
};

/// Counts of jobs that were changed or excluded.
struct JobCounts {
  int64_t cpu_jobs = 0;              ///< without GPUs and without a resource type of their own
  int64_t cpu_jobs_left_out = 0;     ///< of these, excluded from the history
  int64_t gpu_shares = 0;            ///< requested a part of a GPU, got one GPU
  int64_t impossible_deadlines = 0;  ///< earlier than submission plus work
  int64_t never_started = 0;         ///< ended without a start; not in the history
  int64_t unfinished = 0;            ///< waiting or running when recorded; not in the history
};

/// Collects jobs. A cluster, if given, must outlive the builder.
class HistoryBuilder final : public site::records::RecordSink {
 public:
  HistoryBuilder(const core::model::Cluster* cluster, size_t jobs_max,
                 CpuJobs cpu_jobs = CpuJobs::LeaveOut);

  /// If the input has a field for limits, a job that leaves it empty gets the default of its
  /// resource type. Otherwise limits are unknown and no job has one.
  void begin_file(const site::records::InputFacts& facts) override {
    walltimes_known_ = facts.has_walltimes;
  }
  /// Reserves memory for about `jobs` jobs in total, assuming names like those so far.
  void expect(size_t jobs) override;

  /// Adds the record; or returns the reason for rejecting it, and nothing has changed. Empty =
  /// added. A job without GPUs and resource type becomes one instance of the smallest resource type
  /// without GPUs that fits its cores, or enough instances of the largest; without such types
  /// `cpu_jobs` decides. Jobs that did not run, or have no known duration, are counted and
  /// excluded.
  [[nodiscard]] std::string take(const AccountingRecord& record) override;

  [[nodiscard]] bool is_sorted() const { return sorted_; }
  [[nodiscard]] bool is_full() const override { return history_.jobs.size() >= jobs_max_; }
  [[nodiscard]] size_t size() const { return history_.jobs.size(); }
  [[nodiscard]] const JobCounts& counts() const { return counts_; }

  /// The history in submit order; equal times keep the order of the input.
  [[nodiscard]] core::model::JobHistory finish();

 private:
  [[nodiscard]] std::string set_resources(const AccountingRecord& record,
                                          core::model::JobRequest& request);
  [[nodiscard]] std::string set_typed_resources(const AccountingRecord& record,
                                                core::model::JobRequest& request);
  /// The record is of a job that ran, with consistent times.
  [[nodiscard]] std::string add(const AccountingRecord& record);
  [[nodiscard]] std::string add_cpu_only(const AccountingRecord& record);
  [[nodiscard]] std::string add_job(const AccountingRecord& record);
  [[nodiscard]] std::string add_array(const AccountingRecord& record, core::model::Job job);
  [[nodiscard]] core::model::AppClass class_of(core::model::ModelId model);
  void push(std::string_view id, const core::model::Job& job, const AccountingRecord& record);

  const core::model::Cluster* cluster_;
  bool walltimes_known_ = false;
  size_t jobs_max_;
  CpuJobs cpu_jobs_;
  JobCounts counts_;
  std::vector<size_t> cpu_types_;       ///< resource types without GPUs, by cores
  std::vector<int64_t> instances_max_;  ///< by resource type: number that fits on the empty cluster
  core::model::JobHistory history_;
  std::vector<core::model::AppClass> class_of_model_;
  site::records::IdSet ids_;
  std::string run_id_;  ///< id of a job that was rerun, or of another cluster
  std::optional<std::string> first_cluster_;
  bool sorted_ = true;
};

}  // namespace goban::study::history
