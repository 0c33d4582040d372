// Small things that many readers and writers of text do alike.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// The text without blanks, tabs and line ends at both sides.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// With A to Z as a to z; other bytes stay.
[[nodiscard]] std::string lowered(std::string_view text);
/// In double quotes, with backslashes before quotes, backslashes and (as \n) line feeds: a string
/// of TOML and of PromQL.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace goban::base
