// Where parsers put what they read: records go to the sink, rejected ones to the list.
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

/// The output of one input; counts records.
class RecordOutput {
 public:
  RecordOutput(RecordSink& sink, ReadSummary& summary) : sink_(sink), summary_(summary) {}

  /// Writes rejected records to this file, too. Errors: Failed if it cannot be created.
  [[nodiscard]] base::Status write_rejects(const std::string& path);
  [[nodiscard]] base::Status commit();

  /// Counts a record; it will be put or rejected, perhaps later.
  void count_record() { ++summary_.records; }
  [[nodiscard]] int64_t records() const { return summary_.records; }
  /// Passes the record to the sink; `text` is its source text.
  void put(const AccountingRecord& record, std::string_view text);
  void reject(int64_t line, std::string_view reason, std::string_view text);

  /// Ends the reading with an error.
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
