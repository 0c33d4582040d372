// SHA-256 (FIPS 180-4) of a file, for data sets that must be the ones we measured with.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::train::data {

/// Lower-case hexadecimal. Errors: Failed, if the file cannot be read.
[[nodiscard]] base::Result<std::string> sha256_of_file(const std::string& path);
[[nodiscard]] std::string sha256(const std::string& bytes);

}  // namespace goban::train::data
