// Fields of CSV files that people open in a spreadsheet, which evaluates formulas (OWASP, "CSV
// Injection").
#pragma once

#include <string>
#include <string_view>

#include "base/csv.hpp"
#include "base/number.hpp"

namespace goban::base {

/// Whether a spreadsheet would take the text for a formula: it begins with = + - @, tab or carriage
/// return, and is neither a number nor a single character.
[[nodiscard]] inline bool may_be_formula(std::string_view text) {
  if (text.size() < 2 || std::string_view("=+-@\t\r").find(text[0]) == text.npos) return false;
  const bool has_sign = text[0] == '+' || text[0] == '-';
  const bool is_number =
      has_sign && text[1] != '+' && text[1] != '-' && parse_double(text.substr(1));
  return !is_number;
}

/// Appends a field, quoted if necessary, with an apostrophe in front of what may be a formula.
inline void append_sheet_field(std::string& out, std::string_view field) {
  if (!may_be_formula(field)) return append_csv_field(out, field);
  append_csv_field(out, "'" + std::string(field));
}

}  // namespace goban::base
