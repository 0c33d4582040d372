// From records to a JobHistory: the rules every format shares, and the limits of the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/job.hpp"
#include "site/records/accounting_record.hpp"
#include "site/records/id_set.hpp"

namespace goban::study::history {

using site::records::AccountingRecord;

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
  int64_t never_started = 0;         ///< ended without a start; not in the history
  int64_t unfinished = 0;            ///< waiting or running when recorded; not in the history
};

/// Collects jobs. A cluster, if given, must outlive the builder.
class HistoryBuilder final : public site::records::RecordSink {
 public:
  HistoryBuilder(const core::model::Cluster* cluster, size_t jobs_max,
                 CpuJobs cpu_jobs = CpuJobs::LeaveOut);

  /// If the input has a place for limits, a job that leaves it empty gets the default of its
  /// resource type. Otherwise limits are unknown and nobody gets one.
  void begin_file(const site::records::InputFacts& facts) override {
    walltimes_known_ = facts.has_walltimes;
  }
  /// Room for about so many jobs in all, their names like those so far.
  void expect(size_t jobs) override;

  /// Takes the record; or says why not, and nothing has changed. Empty = taken. A job without GPUs
  /// and resource type becomes the smallest resource type without GPUs that holds its cores, or
  /// enough instances of the largest; without such types `cpu_jobs` says what happens to it.
  /// Jobs that did not run, or do not say how long, are counted and left out.
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
  /// What was recorded is a job that ran; its times fit together.
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
  std::vector<int64_t> instances_max_;  ///< by resource type: how many the empty cluster holds
  core::model::JobHistory history_;
  std::vector<core::model::AppClass> class_of_model_;
  site::records::IdSet ids_;
  std::string run_id_;  ///< of a job that ran before, or of another cluster
  std::optional<std::string> first_cluster_;
  bool sorted_ = true;
};

}  // namespace goban::study::history
