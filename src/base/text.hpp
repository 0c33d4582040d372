// Helpers shared by readers and writers of text.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// The text without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The text with A to Z replaced by a to z; other bytes are unchanged.
[[nodiscard]] std::string lowered(std::string_view text);
/// The text in double quotes, as a TOML or PromQL string: quotes and backslashes are escaped by a
/// backslash, line feeds are written as \n.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace goban::base
