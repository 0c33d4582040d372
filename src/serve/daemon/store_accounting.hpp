// Ended jobs of the live scheduler as accounting records in the history store: a record a run, as
// after a requeue elsewhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/cluster.hpp"
#include "live/loop/live_scheduler.hpp"
#include "site/records/accounting_record.hpp"

namespace goban::serve::daemon {

/// The records of one ended job. Texts refer to the job, the cluster and this.
class JobRecords {
 public:
  /// `job` and `cluster` outlive this.
  JobRecords(const live::controller::LiveJob& job, const core::model::Cluster& cluster);
  [[nodiscard]] const std::vector<site::records::AccountingRecord>& records() const {
    return records_;
  }

 private:
  void add_run(const live::controller::LiveJob& job, const live::controller::PastRun* run,
               bool is_last);

  const core::model::Cluster& cluster_;
  std::string id_;
  std::vector<std::string> gpu_names_;
  std::vector<std::vector<site::records::GpuUse>> gpus_;
  std::vector<std::string> nodes_;
  std::vector<site::records::AccountingRecord> records_;
};

/// Opens the store for every batch, so that others may write to it in between.
class StoreAccounting final : public live::loop::Accounting {
 public:
  /// `store`: as in `goban history --store`. Records that the store refuses go to `rejects`, a CSV
  /// with reasons. `cluster` outlives this.
  /// `ended`: is told of each job first, again if the store did not take it; empty: nobody is.
  StoreAccounting(std::string store, std::string rejects, const core::model::Cluster& cluster,
                  std::function<void(const live::controller::LiveJob&)> ended = {})
      : store_(std::move(store)),
        rejects_(std::move(rejects)),
        cluster_(cluster),
        ended_(std::move(ended)) {}
  [[nodiscard]] base::Status record(const std::vector<live::controller::LiveJob>& jobs) override;

 private:
  std::string store_;
  std::string rejects_;
  const core::model::Cluster& cluster_;
  std::function<void(const live::controller::LiveJob&)> ended_;
};

}  // namespace goban::serve::daemon
