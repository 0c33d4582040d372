// Where the parsers of a reading put what they find: records to the sink, refusals to the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/output_file.hpp"
#include "base/result.hpp"
#include "site/records/accounting_record.hpp"
#include "site/records/record_reader.hpp"

namespace goban::site::records {

/// One reading's output; counts as it goes.
class RecordOutput {
 public:
  RecordOutput(RecordSink& sink, ReadSummary& summary) : sink_(sink), summary_(summary) {}

  /// Refusals go to this file too. Errors: Failed if it cannot be created.
  [[nodiscard]] base::Status write_rejects(const std::string& path);
  [[nodiscard]] base::Status commit();

  /// A record was found; it will be put or rejected, perhaps later.
  void count_record() { ++summary_.records; }
  [[nodiscard]] int64_t records() const { return summary_.records; }
  /// Gives the record to the sink; `text` is what it was read from.
  void put(const AccountingRecord& record, std::string_view text);
  void reject(int64_t line, std::string_view reason, std::string_view text);

  /// The input cannot be read on.
  void fail(base::Error error);
  [[nodiscard]] const base::Status& status() const { return status_; }
  [[nodiscard]] RecordSink& sink() { return sink_; }

 private:
  RecordSink& sink_;
  ReadSummary& summary_;
  std::optional<base::OutputFile> rejects_;
  base::Status status_;
};

}  // namespace goban::site::records
