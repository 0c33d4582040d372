#include "base/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace goban::base {
namespace {

/// Compressed formats that are named, not read: their first bytes, and what unpacks them.
struct Packed {
  std::string_view magic;
  std::string_view name;
  std::string_view unpacker;
};
constexpr std::array kPacked = {
    Packed{"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
    Packed{std::string_view("\xfd"
                            "7zXZ\0",
                            6),
           "xz", "xz -dc"},
    Packed{"BZh91AY&SY", "bzip2", "bzip2 -dc"},
    Packed{"PK\x03\x04", "zip", "unzip -p"},
};

/// zlib passes plain files through, directly into the caller's buffer if that is larger than its
/// own.
class ZlibSource final : public ByteSource {
 public:
  ZlibSource(gzFile file, std::string name, int64_t total)
      : file_(file), name_(std::move(name)), total_bytes_(total) {
    gzbuffer(file_, 128 << 10);
  }
  ~ZlibSource() override { gzclose_r(file_); }
  ZlibSource(const ZlibSource&) = delete;
  ZlibSource& operator=(const ZlibSource&) = delete;

  Result<size_t> read(char* out, size_t capacity) override {
    const auto wanted = static_cast<unsigned>(std::min<size_t>(capacity, 1 << 30));
    const int got = gzread(file_, out, wanted);
    if (got > 0) {
      const auto count = static_cast<size_t>(got);
      if (std::exchange(is_first_, false)) {
        if (auto status = refuse_packed({out, count}, name_); !status) {
          return failure(status.error());
        }
      }
      return count;
    }
    int code = Z_OK;
    const char* text = gzerror(file_, &code);
    if (code == Z_ERRNO) {
      return failed(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    }
    if (code != Z_OK && code != Z_STREAM_END) {
      // zlib prefixes its message with its own name for the file.
      const std::string_view all(text);
      const size_t colon = all.rfind(": ");
      return bad_data(
          {.file = name_, .line = 0, .column = 0, .field = {}},
          fmt::format("damaged gzip data: {}", colon == all.npos ? all : all.substr(colon + 2)),
          "copy the file again; check it with gzip -t");
    }
    return 0;
  }
  int64_t consumed_bytes() const override { return gzoffset(file_); }
  int64_t total_bytes() const override { return total_bytes_; }

 private:
  gzFile file_;
  std::string name_;
  int64_t total_bytes_;
  bool is_first_ = true;
};

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::ifstream in, std::string name, int64_t total)
      : in_(std::move(in)), name_(std::move(name)), total_bytes_(total) {}
  Result<size_t> read(char* out, size_t capacity) override {
    in_.read(out, static_cast<std::streamsize>(capacity));
    if (in_.bad()) return failed(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    consumed_bytes_ += in_.gcount();
    return static_cast<size_t>(in_.gcount());
  }
  int64_t consumed_bytes() const override { return consumed_bytes_; }
  int64_t total_bytes() const override { return total_bytes_; }

 private:
  std::ifstream in_;
  std::string name_;
  int64_t total_bytes_;
  int64_t consumed_bytes_ = 0;
};

}  // namespace

Result<size_t> read_up_to(ByteSource& source, char* out, size_t size) {
  size_t have = 0;
  while (have < size) {
    const auto count = source.read(out + have, size - have);
    if (!count) return failure(count.error());
    if (*count == 0) break;
    have += *count;
  }
  return have;
}

Status refuse_packed(std::string_view beginning, const std::string& name) {
  const auto* const found = std::ranges::find_if(
      kPacked, [&](const Packed& each) { return beginning.starts_with(each.magic); });
  if (found == kPacked.end()) return {};
  return bad_data({.file = name, .line = 0, .column = 0, .field = {}},
                  fmt::format("{} data, which goban does not unpack", found->name),
                  fmt::format("unpack it into a pipe: {} FILE | goban ... -", found->unpacker));
}

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  const bool is_stdin = path == "-";
  const int fd = is_stdin ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  struct stat info{};
  const bool known = fstat(fd, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    close(fd);
    return failed(fmt::format("cannot read {}: it is a folder", path));
  }
  gzFile file = gzdopen(fd, "rb");
  if (file == nullptr) {
    close(fd);
    return failed(fmt::format("cannot open {}: out of memory", path));
  }
  return std::make_unique<ZlibSource>(file, is_stdin ? "<stdin>" : path,
                                      known && S_ISREG(info.st_mode) ? info.st_size : 0);
}

Result<std::unique_ptr<ByteSource>> open_plain(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return failed(fmt::format("cannot read {}: it is a folder", path));
  }
  const auto size = std::filesystem::file_size(path, error);
  return std::make_unique<PlainSource>(std::move(in), path, error ? 0 : static_cast<int64_t>(size));
}

Result<size_t> MemorySource::read(char* out, size_t capacity) {
  const size_t count = std::min({capacity, chunk_, bytes_.size() - next_});
  bytes_.copy(out, count, next_);
  next_ += count;
  return count;
}

}  // namespace goban::base
