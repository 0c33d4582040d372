// Ended jobs of the live scheduler as accounting records in the history store: a record a run, as
// after a requeue elsewhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "live/daemon.hpp"
#include "model/cluster.hpp"
#include "records/accounting_record.hpp"

namespace goban::service {

/// The records of one ended job. Texts refer to the job, the cluster and this.
class JobRecords {
 public:
  /// `job` and `cluster` outlive this.
  JobRecords(const live::LiveJob& job, const model::Cluster& cluster);
  [[nodiscard]] const std::vector<records::AccountingRecord>& records() const { return records_; }

 private:
  void add_run(const live::LiveJob& job, const live::PastRun* run, bool is_last);

  const model::Cluster& cluster_;
  std::string id_;
  std::vector<std::string> gpu_names_;
  std::vector<std::vector<records::GpuUse>> gpus_;
  std::vector<std::string> nodes_;
  std::vector<records::AccountingRecord> records_;
};

/// Opens the store for every batch, so that others may write to it in between.
class StoreAccounting final : public live::Accounting {
 public:
  /// `store`: as in `goban history --store`. Records that the store refuses go to `rejects`, a CSV
  /// with reasons. `cluster` outlives this.
  /// `ended`: is told of each job first, again if the store did not take it; empty: nobody is.
  StoreAccounting(std::string store, std::string rejects, const model::Cluster& cluster,
                  std::function<void(const live::LiveJob&)> ended = {})
      : store_(std::move(store)),
        rejects_(std::move(rejects)),
        cluster_(cluster),
        ended_(std::move(ended)) {}
  [[nodiscard]] base::Status record(const std::vector<live::LiveJob>& jobs) override;

 private:
  std::string store_;
  std::string rejects_;
  const model::Cluster& cluster_;
  std::function<void(const live::LiveJob&)> ended_;
};

}  // namespace goban::service
