// Helpers shared by readers and writers of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goban::base {

/// The text without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text with A to Z replaced by a to z; other bytes are unchanged.
[[nodiscard]] std::string lowered(std::string_view text);
[[nodiscard]] constexpr char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
/// The text with a to z replaced by A to Z; other bytes are unchanged.
[[nodiscard]] std::string uppered(std::string_view text);
/// The text in double quotes, as a TOML or PromQL string: quotes and backslashes are escaped by a
/// backslash, line feeds are written as \n.
[[nodiscard]] std::string quoted(std::string_view text);
/// "fp32, bf16 or tf32".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& values);

}  // namespace goban::base
