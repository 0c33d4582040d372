// Appends records of a live scheduler to the store, as an import of a separate kind.
#include <fmt/format.h>

#include "site/store/import_sink.hpp"
#include "site/store/job_store.hpp"

namespace goban::site::store {

using base::Status;

namespace {

/// Rows per commit: larger than any append, so that it is one transaction.
constexpr int64_t kAllAtOnce = int64_t{1} << 40;

/// The id of the import that represents this source; created at the first call.
base::Result<int64_t> import_of(SqlConnection& connection, const std::string& source) {
  const std::string quoted = connection.quoted(source);
  const auto known =
      connection.query_whole("SELECT MAX(id) FROM goban_imports WHERE source=" + quoted);
  if (!known) return base::failure(known.error());
  if (*known) return **known;
  const auto last = connection.query_whole("SELECT MAX(id) FROM goban_imports");
  if (!last) return base::failure(last.error());
  const int64_t id = last->value_or(0) + 1;
  auto status = connection.execute(fmt::format(
      "INSERT INTO goban_imports(id,source,bytes,crc32,begun_unix_s) VALUES({},{},0,0,0)", id,
      quoted));
  if (!status) return base::failure(status.error());
  return id;
}

}  // namespace

Status JobStore::append(std::span<const records::AccountingRecord> records,
                        const std::string& source) {
  if (records.empty()) return {};
  if (auto status = connection_->lock_for_writing(); !status) return status;
  const auto id = import_of(*connection_, source);
  if (!id) return base::failure(id.error());
  StoredNames names;
  if (auto status = names.load(*connection_); !status) return status;
  ImportSink sink(*connection_, names, fiscal_month_, *id, kAllAtOnce);
  if (auto status = sink.begin(); !status) return status;
  std::string refused;
  for (const records::AccountingRecord& record : records) {
    std::string reason = sink.take(record);
    if (!reason.empty() && refused.empty()) {
      refused = fmt::format("job {}: {}", record.id, reason);
    }
  }
  ImportSummary summary;
  if (auto status = sink.finish(summary); !status) return status;
  if (!refused.empty()) return base::bad_data({}, refused);
  return {};
}

}  // namespace goban::site::store
