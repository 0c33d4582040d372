#include "base/file_checksum.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <zlib.h>

namespace goban::base {
namespace {

/// Reads the file as stored, in pieces.
Status read_pieces(const std::string& path, const std::function<void(std::string_view)>& take) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::string buffer(size_t{1} << 20, '\0');
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0;) {
    take(std::string_view(buffer).substr(0, n));
  }
  if (std::ferror(file.get()) != 0) return failed(fmt::format("cannot read {}", path));
  return {};
}

const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

uint32_t crc32_of(std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(0, data_of(bytes), bytes.size()));
}

Result<FileChecksum> checksum_of(const std::string& path) {
  FileChecksum sum;
  uLong crc = 0;
  const Status status = read_pieces(path, [&](std::string_view piece) {
    crc = ::crc32_z(crc, data_of(piece), piece.size());
    sum.bytes += static_cast<int64_t>(piece.size());
  });
  if (!status) return failure(status.error());
  sum.crc32 = static_cast<uint32_t>(crc);
  return sum;
}

Result<Sha256> sha256_of_file(const std::string& path) {
  Sha256Stream stream;
  const Status status = read_pieces(path, [&](std::string_view piece) { stream.add(piece); });
  if (!status) return failure(status.error());
  return stream.digest();
}

}  // namespace goban::base
