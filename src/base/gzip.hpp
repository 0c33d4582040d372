// Bytes packed for embedding in a text document: gzip, and base64 over it.
#pragma once

#include <string>
#include <string_view>

namespace goban::base {

/// A gzip member of `bytes`; equal input gives equal output (no time, no name in its header).
[[nodiscard]] std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding: letters, digits, '+', '/' and '='.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace goban::base
