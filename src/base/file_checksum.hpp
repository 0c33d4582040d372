// Checksums of files: to notice that one changed, or that it is not the one expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sha256.hpp"

namespace goban::base {

/// No protection against intent.
struct FileChecksum {
  int64_t bytes = 0;
  uint32_t crc32 = 0;  ///< as gzip and PNG have it
  friend bool operator==(const FileChecksum&, const FileChecksum&) = default;
};

/// CRC-32 of bytes, as gzip and PNG have it.
[[nodiscard]] uint32_t crc32_of(std::string_view bytes);

/// Reads the file as it is stored. Errors: Failed if it cannot be read.
[[nodiscard]] Result<FileChecksum> checksum_of(const std::string& path);
[[nodiscard]] Result<Sha256> sha256_of_file(const std::string& path);

}  // namespace goban::base
