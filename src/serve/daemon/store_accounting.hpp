// Writes finished jobs of the live scheduler into the history store: one accounting record per run,
// as other schedulers do for requeued jobs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/cluster.hpp"
#include "live/loop/live_scheduler.hpp"
#include "site/records/accounting_record.hpp"

namespace goban::serve::daemon {

/// The accounting records of one finished job. Their strings refer to the job, the cluster and this
/// object.
class JobRecords {
 public:
  /// `job` and `cluster` outlive this object. `software`: modules and libraries that it loaded.
  JobRecords(const live::controller::LiveJob& job, const core::model::Cluster& cluster,
             std::vector<std::string> software = {});
  [[nodiscard]] const std::vector<site::records::AccountingRecord>& records() const {
    return records_;
  }

 private:
  void add_run(const live::controller::LiveJob& job, const live::controller::PastRun* run,
               bool is_last);

  const core::model::Cluster& cluster_;
  std::vector<std::string> software_;
  std::vector<std::string_view> software_names_;
  std::string details_;
  std::string id_;
  std::vector<std::string> gpu_names_;
  std::vector<std::vector<site::records::HeldGpu>> gpus_;
  std::vector<std::string> nodes_;
  std::vector<site::records::AccountingRecord> records_;
};

/// What the history store keeps of a finished job for its owner, as one line of JSON: everything
/// but its payload, its progress and the times of its ranks; of its runs the last 64.
[[nodiscard]] std::string stored_details(const live::controller::LiveJob& job);
/// Errors: BadData naming the field.
[[nodiscard]] base::Result<live::controller::LiveJob> parse_stored_details(std::string_view text);

/// Opens the store for every batch, so that other writers can use it in between.
class StoreAccounting final : public live::loop::Accounting {
 public:
  /// `store`: as in `goban history --store`. If the store refuses records, the reason is appended
  /// to the file `rejects`. `ended`: called with each job before it is stored, and again if storing
  /// failed; may be empty. `software`: says which modules and libraries a job loaded; may be empty.
  StoreAccounting(std::string store, std::string rejects,
                  std::function<void(const live::controller::LiveJob&)> ended = {},
                  std::function<std::vector<std::string>(core::model::JobId)> software = {})
      : store_(std::move(store)),
        rejects_(std::move(rejects)),
        ended_(std::move(ended)),
        software_(std::move(software)) {}
  [[nodiscard]] base::Status record(const std::vector<live::loop::FinishedJob>& jobs) override;

 private:
  std::string store_;
  std::string rejects_;
  std::function<void(const live::controller::LiveJob&)> ended_;
  std::function<std::vector<std::string>(core::model::JobId)> software_;
};

}  // namespace goban::serve::daemon
