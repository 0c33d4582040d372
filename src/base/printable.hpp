// Untrusted text for a terminal or page: what would change how other text is shown is made visible.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// Length in bytes of the UTF-8 sequence at the front of a non-empty text; 0 if it is invalid or
/// NUL.
[[nodiscard]] size_t utf8_bytes(std::string_view text);

/// Length in bytes of the character at the front of a non-empty text if it must not be shown as it
/// is, otherwise 0. These are control characters (line feed and tab included), bidirectional
/// formatting characters, which reorder the text around them (Unicode Standard Annex 9), line and
/// paragraph separators, and single bytes that are not valid UTF-8.
[[nodiscard]] size_t unsafe_bytes(std::string_view text);

/// The text with \xNN for each unsafe byte; line feed and tab stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace goban::base
