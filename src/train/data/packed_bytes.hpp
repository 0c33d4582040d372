// The content of files packed by gzip or zstd. Reading it to its end verifies the checksums that
// the file has: gzip's CRC-32 and length, zstd's content checksum.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.hpp"

namespace goban::train::data {

/// nullptr for a file that is not packed. Errors: Failed if it cannot be opened; BadData.
[[nodiscard]] base::Result<std::unique_ptr<base::ByteSource>> open_packed(const std::string& path);

/// The same from memory, which must outlive the source.
[[nodiscard]] base::Result<std::unique_ptr<base::ByteSource>> read_packed(std::string_view bytes,
                                                                          const std::string& name);

}  // namespace goban::train::data
