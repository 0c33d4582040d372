// Accounting records in a database: imported again and again without doubles, read back in order.
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

struct ImportOptions {
  records::ReadOptions reading{};
  bool again = false;  ///< read a file whose like was imported before all the same
  int64_t rows_per_commit = 100'000;
};

/// What came of an import.
struct ImportSummary {
  records::ReadSummary read;
  bool was_imported = false;  ///< the same bytes were imported before; nothing was done
  int64_t written = 0;        ///< jobs written, new ones and others
  int64_t unfinished = 0;     ///< of them: had not ended
  int64_t outdated = 0;       ///< unfinished ones whose end the store knew already
};

/// Which jobs to read; those without a submission count by their start or end.
struct Selection {
  std::optional<base::TimeNs> from_ns{};  ///< submitted at or after
  std::optional<base::TimeNs> to_ns{};    ///< submitted before
  std::string user{};                     ///< empty = all
};

struct PartitionFacts {
  int fiscal_year = 0;
  int64_t jobs = 0;
};

/// A store on one connection. One thread.
class JobStore {
 public:
  /// Opens and, if need be, makes or updates the tables. Errors: see open_connection(), migrate().
  [[nodiscard]] static base::Result<JobStore> open(const std::string& location, bool create,
                                                   int fiscal_month = kFiscalMonthDefault);

  /// Reads a file (or "-") and writes its records: the same record again replaces itself. Commits
  /// as it goes; cut short anywhere, it can be repeated. Errors: those of the reader, Failed.
  [[nodiscard]] base::Result<ImportSummary> import_file(const std::string& path,
                                                        const ImportOptions& options);
  /// The same for what hooks saw of jobs (seen.hpp); none was written if the same bytes were
  /// imported before. All of a file or nothing. Errors: those of import_seen().
  [[nodiscard]] base::Result<ImportSummary> import_seen_file(const std::string& path,
                                                             const ImportOptions& options);
  /// Writes records that somebody has at hand, such as those of a live scheduler. The same record
  /// again replaces itself. Errors: Failed: nothing was written; BadData: all were but those that
  /// make no sense, with the reason of the first of them.
  [[nodiscard]] base::Status append(std::span<const records::AccountingRecord> records,
                                    const std::string& source);
  /// Gives the jobs to a sink by fiscal year, job number and submission; runs are numbered anew.
  /// Jobs the sink refuses are counted, and written to `rejects_path` unless it is empty.
  [[nodiscard]] base::Result<records::ReadSummary> read(const Selection& selection,
                                                        records::RecordSink& sink,
                                                        const std::string& rejects_path = {});
  [[nodiscard]] base::Result<std::vector<PartitionFacts>> partition_facts();
  /// What hooks saw of jobs whose ids the store does not have. Reads all ids.
  [[nodiscard]] base::Result<int64_t> lone_sightings();
  /// Removes the fiscal years before this one; returns them.
  [[nodiscard]] base::Result<std::vector<int>> drop_before(int year);
  /// Replaces the jobs of the fiscal years before this one by sums; returns those years.
  [[nodiscard]] base::Result<std::vector<int>> reduce_before(int year);
  /// See forget.hpp.
  [[nodiscard]] base::Result<Forgotten> forget(const std::string& user);
  [[nodiscard]] base::Status daily_sums(const std::function<void(const DailySum&)>& take);
  /// The key of this store's pseudonyms, made at the first call.
  [[nodiscard]] base::Result<std::string> salt();

  [[nodiscard]] int fiscal_month() const { return fiscal_month_; }
  [[nodiscard]] SqlConnection& connection() { return *connection_; }

 private:
  /// The number of the new row in goban_imports; none if the same bytes were imported before.
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
