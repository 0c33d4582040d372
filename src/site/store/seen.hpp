// What was seen of jobs beside their accounting: environment modules, container images, processes
// on GPUs, and which GPUs they held. Lines of hooks and epilogs (docs/history.md), kept in the
// table goban_seen and joined to jobs by id and time when jobs are read.
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

/// The name of the format in summaries.
inline constexpr std::string_view kSeenFormat = "seen";

/// So much before the start and after the end of a job its hooks may still write.
inline constexpr base::TimeNs kSeenSlackNs = int64_t{300} * base::kSecond;

struct SeenSummary {
  records::ReadSummary read;
  int64_t written = 0;  ///< what was seen: a line may say several things
};

/// Reads CSV with a header line; columns in any order: `time` (2024-04-01T10:00:00[+09:00], or
/// seconds since 1970), `job_id` and `name`, and if there `kind`, `cluster` and `node`. Kinds:
/// module (default), container, process, gpu; `modules` is $LOADEDMODULES, with colons between;
/// `gpus` has blanks between. Of a process and of paths only the name of the file is kept. The same
/// line again changes nothing; of what is seen of a job within kSeenSlotNs the last is kept.
/// Errors: those of reading; BadData if the header lacks a column. The connection has to be in a
/// transaction.
[[nodiscard]] base::Result<SeenSummary> import_seen(SqlConnection& connection, StoredNames& names,
                                                    int fiscal_month, const std::string& path,
                                                    const records::ReadOptions& options);

/// A column for SELECT from a fiscal year's table named `j`: what was seen of the job, for
/// SeenJoin.
[[nodiscard]] std::string seen_column(Dialect dialect);

/// Adds what was seen to a record.
class SeenJoin {
 public:
  explicit SeenJoin(const StoredNames& names) : names_(names) {}
  /// `text` is that of seen_column(). Software comes to what the record has, processes as
  /// `process:NAME`; GPUs only if the record has none. The record's lists then are this object's.
  void add_to(records::AccountingRecord& record, std::string_view text);

 private:
  const StoredNames& names_;
  std::vector<std::pair<int64_t, int64_t>> seen_;  ///< kind, number of the name
  std::vector<std::string_view> software_;
  std::vector<records::GpuUse> gpus_;
};

}  // namespace goban::site::store
