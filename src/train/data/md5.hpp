// MD5 (RFC 1321), which wids indexes contain. It detects accidental changes only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::train::data {

/// Lower-case hexadecimal digits.
[[nodiscard]] std::string md5(std::string_view bytes);
/// Errors: Failed if the file cannot be read.
[[nodiscard]] base::Result<std::string> md5_of_file(const std::string& path);

}  // namespace goban::train::data
