// Bytes packed for embedding in a text document: gzip, and base64 over it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace goban::base {

/// A gzip member of `bytes`; equal input gives equal output (no time, no name in its header).
[[nodiscard]] std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding: letters, digits, '+', '/' and '='.
[[nodiscard]] std::string base64(std::string_view bytes);

/// The bytes of a gzip member; nothing if it is damaged, cut, or unpacks to more than `max_bytes`.
[[nodiscard]] std::optional<std::string> gunzip(std::string_view packed, size_t max_bytes);

/// What base64() was made from; nothing if other characters are in it or the padding is wrong.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace goban::base
