// Accounting records in a database: imports are idempotent, records are read back in order.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "site/records/accounting_record.hpp"
#include "site/records/record_reader.hpp"
#include "site/store/forget.hpp"
#include "site/store/retention.hpp"
#include "site/store/schema.hpp"
#include "site/store/seen.hpp"
#include "site/store/sql.hpp"

namespace goban::site::store {

struct JobImportOptions {
  records::ReadOptions reading{};
  bool again = false;  ///< read a file even if it was imported before
  int64_t rows_per_commit = 100'000;
};

/// Result of an import.
struct ImportSummary {
  records::ReadSummary read;
  bool was_imported = false;  ///< the same bytes were imported before; nothing was done
  int64_t written = 0;        ///< jobs written, new and replaced
  int64_t unfinished = 0;     ///< of them: not finished
  int64_t outdated = 0;       ///< unfinished ones whose end was already in the store
};

/// Which jobs to read; those without a submission time are selected by their start or end.
struct Selection {
  std::optional<base::TimeNs> from_ns{};  ///< submitted at or after
  std::optional<base::TimeNs> to_ns{};    ///< submitted before
  std::string user{};                     ///< empty = all
};

struct PartitionFacts {
  int fiscal_year = 0;
  int64_t jobs = 0;
};

/// A store on one connection. Not thread-safe.
class JobStore {
 public:
  /// Opens the store; creates or migrates the tables if necessary. Errors: see open_connection(),
  /// migrate().
  [[nodiscard]] static base::Result<JobStore> open(const std::string& location, bool create,
                                                   int fiscal_month = kFiscalMonthDefault);

  /// Reads a file (or "-") and writes its records; a record that exists is replaced. Commits at
  /// intervals; an interrupted import can be repeated. Errors: those of the reader, Failed.
  [[nodiscard]] base::Result<ImportSummary> import_file(const std::string& path,
                                                        const JobImportOptions& options);
  /// The same for hook records (seen.hpp); nothing is written if the same bytes were imported
  /// before. A file is imported completely or not at all. Errors: those of import_seen().
  [[nodiscard]] base::Result<ImportSummary> import_seen_file(const std::string& path,
                                                             const JobImportOptions& options);
  /// Writes records from memory, such as those of a live scheduler. A record that exists is
  /// replaced. Errors: Failed: nothing was written; BadData: all were written but the invalid ones,
  /// with the reason of the first.
  [[nodiscard]] base::Status append(std::span<const records::AccountingRecord> records,
                                    const std::string& source);
  /// Passes the jobs to a sink by fiscal year, job number and submission; runs are renumbered. Jobs
  /// that the sink rejects are counted, and written to `rejects_path` unless it is empty.
  [[nodiscard]] base::Result<records::ReadSummary> read(const Selection& selection,
                                                        records::RecordSink& sink,
                                                        const std::string& rejects_path = {});
  [[nodiscard]] base::Result<std::vector<PartitionFacts>> partition_facts();
  /// Number of hook records whose job id is not in the store. Reads all ids.
  [[nodiscard]] base::Result<int64_t> lone_sightings();
  /// Removes the fiscal years before this one; returns the removed years.
  [[nodiscard]] base::Result<std::vector<int>> drop_before(int year);
  /// Replaces the jobs of the fiscal years before this one by sums; returns these years.
  [[nodiscard]] base::Result<std::vector<int>> reduce_before(int year);
  /// See forget.hpp.
  [[nodiscard]] base::Result<Forgotten> forget(const std::string& user);
  [[nodiscard]] base::Status daily_sums(const std::function<void(const DailySum&)>& take);
  /// The key of this store's pseudonyms, created at the first call.
  [[nodiscard]] base::Result<std::string> salt();

  [[nodiscard]] int fiscal_month() const { return fiscal_month_; }
  [[nodiscard]] SqlConnection& connection() { return *connection_; }

 private:
  /// The id of the new row in goban_imports; none if the same bytes were imported before.
  [[nodiscard]] base::Result<std::optional<int64_t>> begin_import(const std::string& path,
                                                                  bool again,
                                                                  ImportSummary& summary);
  [[nodiscard]] base::Status end_import(int64_t id, const records::ReadSummary& read);

  JobStore(std::unique_ptr<SqlConnection> connection, int fiscal_month)
      : connection_(std::move(connection)), fiscal_month_(fiscal_month) {}

  std::unique_ptr<SqlConnection> connection_;
  int fiscal_month_;
};

}  // namespace goban::site::store
