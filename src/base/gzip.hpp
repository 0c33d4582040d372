// Compressed bytes for embedding in a text document: gzip, then base64.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace goban::base {

/// A gzip member of `bytes`. Equal input gives equal output: its header has no time and no name.
[[nodiscard]] std::string gzip(std::string_view bytes);

/// RFC 4648 base64 with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// The bytes of a gzip member; nullopt if it is damaged or truncated, or unpacks to more than
/// `max_bytes`.
[[nodiscard]] std::optional<std::string> gunzip(std::string_view packed, size_t max_bytes);

/// Inverse of base64(); nullopt if `text` has other characters or wrong padding.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace goban::base
