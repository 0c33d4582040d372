// Whole input files as text: plain or gzip, told apart by their first bytes; "-" = standard input.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace goban::base {

/// Largest text read where the caller states no limit: 4 GiB unpacked.
inline constexpr size_t kTextBytesMax = size_t{4} << 30;

/// Reads all of a file, unpacking gzip. Errors: cannot be opened or read, damaged or cut gzip data,
/// more than `max_bytes` of text (a small packed file may hold very much).
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 size_t max_bytes = kTextBytesMax);

/// How messages name an input: the path, or "stdin" for "-".
[[nodiscard]] std::string input_name(const std::string& path);

}  // namespace goban::base
