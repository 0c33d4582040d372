// Hook records: what was observed of jobs in addition to their accounting: environment modules,
// container images, processes on GPUs, and the GPUs they held. Written by hooks and epilogs
// (docs/history.md), stored in the table goban_seen and joined to jobs by id and time when jobs are
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "site/records/accounting_record.hpp"
#include "site/records/record_reader.hpp"
#include "site/store/schema.hpp"
#include "site/store/stored_names.hpp"

namespace goban::site::store {

enum class SeenKind : uint8_t { Module, Container, Process, Gpu };
inline constexpr size_t kNumSeenKinds = 4;

/// Name of the format in summaries.
inline constexpr std::string_view kSeenFormat = "seen";

/// Period before the start and after the end of a job in which its hooks may write.
inline constexpr base::TimeNs kSeenSlackNs = int64_t{300} * base::kSecond;

struct SeenSummary {
  records::ReadSummary read;
  int64_t written = 0;  ///< observations written: a line may have several
};

/// Reads CSV with a header line and columns in any order: `time` (2024-04-01T10:00:00[+09:00], or
/// seconds since 1970), `job_id` and `name`; optional are `kind`, `cluster` and `node`. Kinds:
/// module (default), container, process, gpu; `modules` is $LOADEDMODULES, separated by colons;
/// `gpus` is separated by blanks. Of a process and of paths only the file name is stored. Repeated
/// lines change nothing; of equal observations of a job within kSeenSlotNs the last is kept.
/// Errors: those of reading; BadData if the header lacks a column. The connection must be in a
/// transaction.
[[nodiscard]] base::Result<SeenSummary> import_seen(SqlConnection& connection, StoredNames& names,
                                                    int fiscal_month, const std::string& path,
                                                    const records::ReadOptions& options);

/// A column expression for SELECT from a fiscal year's table with the alias `j`: the job's hook
/// records, for SeenJoin.
[[nodiscard]] std::string seen_column(Dialect dialect);

/// Adds hook records to accounting records.
class SeenJoin {
 public:
  explicit SeenJoin(const StoredNames& names) : names_(names) {}
  /// `text` is the value of seen_column(). Software is added to the record's own, processes as
  /// `process:NAME`; GPUs only if the record has none. The record's lists are then views of this
  /// object.
  void add_to(records::AccountingRecord& record, std::string_view text);

 private:
  const StoredNames& names_;
  std::vector<std::pair<int64_t, int64_t>> seen_;  ///< kind, name id
  std::vector<std::string_view> software_;
  std::vector<records::HeldGpu> gpus_;
};

}  // namespace goban::site::store
