// Where an import's records go: rows of the fiscal years' tables, committed as it goes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "records/accounting_record.hpp"
#include "records/record_table.hpp"
#include "records/run_counter.hpp"
#include "store/job_store.hpp"
#include "store/stored_names.hpp"

namespace goban::store {

class ImportSink final : public records::RecordSink {
 public:
  ImportSink(SqlConnection& connection, StoredNames& names, int fiscal_month, int64_t import_id,
             int64_t rows_per_commit)
      : connection_(connection),
        names_(names),
        fiscal_month_(fiscal_month),
        import_id_(import_id),
        rows_per_commit_(rows_per_commit) {}

  /// Reads which jobs are open and begins the first transaction. Errors: Failed.
  [[nodiscard]] base::Status begin();
  [[nodiscard]] std::string take(const records::AccountingRecord& record) override;
  /// Writes the jobs that had not ended, unless the store knows their end; commits.
  [[nodiscard]] base::Status finish(ImportSummary& summary);
  /// True after a failure of the database, see status().
  [[nodiscard]] bool is_full() const override { return !status_; }
  [[nodiscard]] const base::Status& status() const { return status_; }

 private:
  [[nodiscard]] base::Result<BulkWriter*> writer_of(int year);
  [[nodiscard]] base::Status write(const records::AccountingRecord& record, bool has_ended);
  [[nodiscard]] base::Status close_open(const records::AccountingRecord& record);
  [[nodiscard]] base::Result<bool> end_is_known(const records::AccountingRecord& record);
  [[nodiscard]] base::Status write_open(const records::AccountingRecord& record);
  [[nodiscard]] base::Status commit();
  [[nodiscard]] int year_of(const records::AccountingRecord& record);
  /// `job_number=.. AND submit_ns=.. AND job_id=.. AND cluster_id=..`
  [[nodiscard]] std::string key_of(const records::AccountingRecord& record);

  SqlConnection& connection_;
  StoredNames& names_;
  int fiscal_month_;
  int64_t import_id_;
  int64_t rows_per_commit_;
  std::map<int, std::unique_ptr<BulkWriter>> writers_;
  BulkWriter* last_writer_ = nullptr;
  int last_year_ = -1;
  base::TimeNs year_begin_ns_ = 0;  ///< of the moments that year_of() was asked for last
  base::TimeNs year_end_ns_ = 0;
  int year_ = 0;
  records::RunCounter seen_;
  records::RecordTable unfinished_;
  std::unordered_set<std::string> open_;  ///< ids of jobs in goban_open
  int64_t written_ = 0;
  int64_t uncommitted_ = 0;
  std::string valid_;
  base::Status status_;
};

}  // namespace goban::store
