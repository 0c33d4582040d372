// Token files: little-endian unsigned integers of 2 or 4 bytes, without a header (.bin), as nanoGPT
// and others write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

/// The tokens of a file. Errors: Failed if it cannot be read; BadData, naming the token, for a size
/// that is no multiple of `token_bytes` (2 or 4), and for a token of `vocabulary` or more.
[[nodiscard]] base::Result<std::vector<int64_t>> read_tokens(const std::string& path,
                                                             int token_bytes, int64_t vocabulary);

}  // namespace goban::train::data
