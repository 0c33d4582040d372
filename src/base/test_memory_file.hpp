// For fuzzers: a file in memory that readers open by its path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"

namespace goban::base {

class MemoryFile {
 public:
  MemoryFile() : file_(::memfd_create("fuzz", 0)) { GOBAN_CHECK(file_ >= 0); }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void write(const uint8_t* data, size_t size) const {
    GOBAN_CHECK(::ftruncate(file_, 0) == 0);
    GOBAN_CHECK(::pwrite(file_, data, size, 0) == static_cast<ssize_t>(size));
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace goban::base
