// Entire input files as text: plain or gzip, detected from the first bytes; "-" = standard input.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace goban::base {

/// Default limit of the text size: 4 GiB unpacked.
inline constexpr size_t kTextBytesMax = size_t{4} << 30;

/// Reads an entire file and unpacks gzip. Errors: cannot be opened or read, damaged or truncated
/// gzip data, more than `max_bytes` of text (a small gzip file may unpack to very much).
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 size_t max_bytes = kTextBytesMax);

/// The name of an input in messages: the path, or "stdin" for "-".
[[nodiscard]] std::string input_name(const std::string& path);

}  // namespace goban::base
