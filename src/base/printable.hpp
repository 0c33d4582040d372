// Untrusted text for a terminal: control characters and invalid UTF-8 are shown as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// Length in bytes of the UTF-8 sequence at the front of a non-empty text; 0 if it is invalid or
/// NUL.
[[nodiscard]] size_t utf8_bytes(std::string_view text);

/// The text with \xNN for each byte of a control character (except line feed and tab) and for each
/// byte that is not valid UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace goban::base
