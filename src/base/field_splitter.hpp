// Fields of one line: CSV (RFC 4180, without line breaks inside a field), or separated by blanks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goban::base {

/// Splits lines at commas and reuses its memory. A field in double quotes may contain commas, and
/// "" for a quote. Without quotes the fields are views into the line.
class FieldSplitter {
 public:
  /// False if a quoted field is not closed, or is followed by anything but a comma.
  [[nodiscard]] bool split(std::string_view line);
  /// Splits at runs of blanks and tabs; there is no quoting.
  void split_blanks(std::string_view line);
  /// Valid until the next split, and only while the line exists.
  [[nodiscard]] std::span<const std::string_view> fields() const { return fields_; }

 private:
  bool split_quoted(std::string_view line);

  std::vector<std::string_view> fields_;
  std::string unquoted_;  ///< text of the quoted fields
};

}  // namespace goban::base
