// Shared by the formats with a header line and a fixed meaning of each column.
#pragma once

#include <algorithm>
#include <span>

#include "site/records/record_format.hpp"

namespace goban::site::records {

/// A parser that looks up its columns by name and reads them by their position in the list of
/// names.
class NamedParser : public RecordParser {
 public:
  std::vector<std::string> ignored_columns() const override { return ignored_; }

 protected:
  /// `names` must outlive the parser.
  NamedParser(const Header& header, std::span<const std::string_view> names);

  /// True if the file has the column.
  [[nodiscard]] bool has(size_t column) const { return at_[column].has_value(); }
  /// The text of a field; empty if the file does not have the column.
  [[nodiscard]] std::string_view text(const ColumnReader& fields, size_t column) const {
    return has(column) ? fields.text(*at_[column]) : std::string_view();
  }
  // The functions below are only for columns that the file has.
  [[nodiscard]] size_t position(size_t column) const { return *at_[column]; }
  [[nodiscard]] double number(ColumnReader& fields, size_t column) const {
    return fields.number(*at_[column], names_[column]);
  }
  [[nodiscard]] int64_t count(ColumnReader& fields, size_t column) const {
    return fields.whole(*at_[column], names_[column], 0, INT32_MAX);
  }
  [[nodiscard]] base::TimeNs seconds(ColumnReader& fields, size_t column) const {
    return fields.seconds(*at_[column], names_[column]);
  }
  [[nodiscard]] base::DateTime date_time(ColumnReader& fields, size_t column) const {
    return fields.date_time(*at_[column], names_[column]);
  }
  /// Reads the final state; an empty field = unknown. Returns what is wrong; empty = nothing.
  [[nodiscard]] std::string read_end(const ColumnReader& fields, size_t column,
                                     AccountingRecord& record) const;
  /// The record's number in the file as its job id; valid until the next call.
  [[nodiscard]] std::string_view row_id(const ColumnReader& fields);

 private:
  std::span<const std::string_view> names_;
  std::vector<std::optional<size_t>> at_;
  std::vector<std::string> ignored_;
  std::string row_id_;
};

[[nodiscard]] bool has_columns(const Header& header, std::span<const std::string_view> required);

/// Creates a parser from the header after checking for required columns.
template <typename Parser>
base::Result<std::unique_ptr<RecordParser>> open_named(std::string_view format,
                                                       std::span<const std::string_view> required,
                                                       const FormatInput& input) {
  for (const std::string_view name : required) {
    if (find_column(input.header, name)) continue;
    std::string needed;
    for (const std::string_view each : required) {
      needed += needed.empty() && each.empty() ? "a first column without a name" : "";
      if (!each.empty()) needed += (needed.empty() ? "" : ", ") + std::string(each);
    }
    return base::bad_data(
        input.place,
        "the column " + (name.empty() ? "without a name" : std::string(name)) + " is missing",
        std::string(format) + " requires " + needed);
  }
  return std::make_unique<Parser>(input.header);
}

}  // namespace goban::site::records
