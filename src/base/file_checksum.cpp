#include "base/file_checksum.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <vector>
#include <zlib.h>

namespace goban::base {

uint32_t crc32_of(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  return static_cast<uint32_t>(::crc32_z(0, data, bytes.size()));
}

Result<FileChecksum> checksum_of(const std::string& path) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  FileChecksum sum;
  uLong crc = ::crc32(0, nullptr, 0);
  std::vector<unsigned char> buffer(size_t{1} << 20);
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0;) {
    crc = ::crc32(crc, buffer.data(), static_cast<uInt>(n));
    sum.bytes += static_cast<int64_t>(n);
  }
  if (std::ferror(file.get()) != 0) return failed(fmt::format("cannot read {}", path));
  sum.crc32 = static_cast<uint32_t>(crc);
  return sum;
}

}  // namespace goban::base
