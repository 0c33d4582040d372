// A file mapped into memory, read-only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace goban::site::series {

class MappedFile {
 public:
  /// Errors: Failed if it cannot be opened or mapped. An empty file has no bytes.
  [[nodiscard]] static base::Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  /// Valid for the lifetime of this object, also after a move.
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace goban::site::series
