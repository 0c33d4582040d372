// Text of strangers on a terminal: what could move the cursor or colour the screen is shown as
// \xNN.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// Bytes of the UTF-8 sequence at the front of a text that is not empty; 0 if it is none, or NUL.
[[nodiscard]] size_t utf8_bytes(std::string_view text);

/// The text with \xNN for each byte of a control character (but line feed and tab) and for each
/// that is no UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace goban::base
