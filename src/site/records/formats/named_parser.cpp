#include "site/records/formats/named_parser.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "site/records/recorded_state.hpp"

namespace goban::site::records {

NamedParser::NamedParser(const Header& header, std::span<const std::string_view> names)
    : names_(names) {
  for (const std::string_view name : names_) at_.push_back(find_column(header, name));
  for (const std::string& column : header) {
    const bool is_row_number = column.empty();
    const bool known = std::ranges::find(names_, column) != names_.end();
    if (!is_row_number && !known) ignored_.push_back(column);
  }
}

std::string NamedParser::read_end(const ColumnReader& fields, size_t column,
                                  AccountingRecord& record) const {
  const std::string_view word = text(fields, column);
  if (word.empty()) return {};
  const auto state = parse_job_state(word);
  if (!state) {
    return fmt::format("{} \"{}\" is not one of {}, Pass, Killed", names_[column],
                       word.substr(0, 40), kEndStateNames);
  }
  record.state = *state;
  return {};
}

std::string_view NamedParser::row_id(const ColumnReader& fields) {
  row_id_.clear();
  base::append_number(row_id_, fields.row());
  return row_id_;
}

bool has_columns(const Header& header, std::span<const std::string_view> required) {
  return std::ranges::all_of(
      required, [&](std::string_view name) { return find_column(header, name).has_value(); });
}

}  // namespace goban::site::records
