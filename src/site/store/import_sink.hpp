// The sink of an import: writes rows to the tables of fiscal years and commits at intervals. The
// reader's thread creates rows, the queue's thread passes them to the database.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "site/records/accounting_record.hpp"
#include "site/records/record_table.hpp"
#include "site/records/run_counter.hpp"
#include "site/store/job_store.hpp"
#include "site/store/stored_names.hpp"
#include "site/store/write_queue.hpp"

namespace goban::site::store {

class ImportSink final : public records::RecordSink {
 public:
  ImportSink(SqlConnection& connection, StoredNames& names, int fiscal_month, int64_t import_id,
             int64_t rows_per_commit)
      : connection_(connection),
        names_(names),
        fiscal_month_(fiscal_month),
        import_id_(import_id),
        rows_per_commit_(rows_per_commit) {}

  /// Reads which jobs are open and starts the first transaction. Errors: Failed.
  [[nodiscard]] base::Status begin();
  [[nodiscard]] std::string take(const records::AccountingRecord& record) override;
  /// Writes the unfinished jobs whose end is not in the store, and commits.
  [[nodiscard]] base::Status finish(ImportSummary& summary);
  /// True after a database failure, see status().
  [[nodiscard]] bool is_full() const override { return !status_; }
  /// Waits until the database has received all records.
  [[nodiscard]] base::Status status();

 private:
  /// Identifies a job, independent of its start.
  struct JobKey {
    int64_t number = -1;
    int64_t submit_ns = -1;
    std::string id;
    int64_t cluster = 0;
    [[nodiscard]] std::string condition(SqlConnection& connection) const;
  };
  [[nodiscard]] JobKey key_of(const records::AccountingRecord& record);
  [[nodiscard]] base::Status add_partition(int year);
  [[nodiscard]] base::Result<QueuedWriter*> writer_of(int year);
  [[nodiscard]] base::Status write(const records::AccountingRecord& record, bool has_ended);
  [[nodiscard]] base::Status close_open(const records::AccountingRecord& record);
  [[nodiscard]] base::Status close_rests(const records::AccountingRecord& record);
  [[nodiscard]] base::Result<bool> tasks_are_known(const records::AccountingRecord& record);
  [[nodiscard]] base::Result<bool> end_is_known(const records::AccountingRecord& record);
  [[nodiscard]] base::Status write_open(const records::AccountingRecord& record);
  [[nodiscard]] base::Status write_unfinished(ImportSummary& summary);
  [[nodiscard]] base::Status commit();
  [[nodiscard]] int year_of(const records::AccountingRecord& record);
  [[nodiscard]] base::Status execute_later(std::function<std::string(SqlConnection&)> make_sql);

  SqlConnection& connection_;
  StoredNames& names_;
  int fiscal_month_;
  int64_t import_id_;
  int64_t rows_per_commit_;
  std::map<int, std::unique_ptr<QueuedWriter>> writers_;
  QueuedWriter* last_writer_ = nullptr;
  int last_year_ = -1;
  base::TimeNs year_begin_ns_ = 0;  ///< range of the fiscal year in year_
  base::TimeNs year_end_ns_ = 0;
  int year_ = 0;
  records::RunCounter seen_;
  records::RecordTable unfinished_;
  std::unordered_set<std::string> open_;        ///< ids of jobs in goban_open
  std::unordered_set<int64_t> open_arrays_;     ///< numbers of arrays with pending tasks in it
  std::unordered_set<std::string> rests_gone_;  ///< arrays whose pending tasks were deleted
  std::vector<int> reduced_;                    ///< years reduced to sums, which accept no jobs
  int64_t written_ = 0;
  int64_t uncommitted_ = 0;
  std::string valid_;
  base::Status status_;
  WriteQueue queue_;  ///< uses the connection while tasks are queued
};

}  // namespace goban::site::store
