// Checksums of files: detect that a file changed or is not the expected one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sha256.hpp"

namespace goban::base {

/// Detects accidental changes only, not deliberate ones.
struct FileChecksum {
  int64_t bytes = 0;
  uint32_t crc32 = 0;  ///< the CRC-32 of gzip and PNG
  friend bool operator==(const FileChecksum&, const FileChecksum&) = default;
};

/// The CRC-32 of gzip and PNG.
[[nodiscard]] uint32_t crc32_of(std::string_view bytes);

/// Checksum of the file as stored (not unpacked). Errors: Failed if it cannot be read.
[[nodiscard]] Result<FileChecksum> checksum_of(const std::string& path);
[[nodiscard]] Result<Sha256> sha256_of_file(const std::string& path);

}  // namespace goban::base
