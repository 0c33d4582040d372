#include "train/data/packed_bytes.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

#include "base/gzip.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kReadBlock = size_t{256} << 10;
constexpr size_t kMostInMemory = size_t{64} << 20;
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";

tl::unexpected<base::Error> damaged(const std::string& name, const std::string& what) {
  return base::bad_data({name, 0, 0, ""}, what,
                        "the shard is truncated or damaged: fetch or write it again");
}

struct CloseArchive {
  void operator()(archive* open) const { archive_read_free(open); }
};

/// libarchive's filter for zstd alone: its reader of tars leaves what follows the end of the tar,
/// and with it the checksum of the file.
class ZstdSource final : public base::ByteSource {
 public:
  explicit ZstdSource(std::string name) : name_(std::move(name)), archive_(archive_read_new()) {
    archive_read_support_format_raw(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
  }
  archive* raw() { return archive_.get(); }
  base::Status begin(int opened) {
    archive_entry* entry = nullptr;
    if (opened == ARCHIVE_OK && archive_read_next_header(raw(), &entry) == ARCHIVE_OK) return {};
    const int number = archive_errno(raw());
    if (number > 0 && number != EILSEQ) {
      return base::failed(fmt::format("cannot open '{}': {}", name_, why()));
    }
    return damaged(name_, why());
  }
  base::Result<size_t> read(char* out, size_t capacity) override {
    const la_ssize_t count = archive_read_data(raw(), out, capacity);
    if (count < 0) return damaged(name_, why());
    return static_cast<size_t>(count);
  }
  int64_t consumed_bytes() const override { return archive_filter_bytes(archive_.get(), -1); }
  int64_t total_bytes() const override { return 0; }

 private:
  std::string why() {
    const char* text = archive_error_string(raw());
    return text == nullptr ? "damaged zstd data" : text;
  }
  std::string name_;
  std::unique_ptr<archive, CloseArchive> archive_;
};

class OwnedSource final : public base::ByteSource {
 public:
  explicit OwnedSource(std::string bytes) : bytes_(std::move(bytes)), source_(bytes_) {}
  base::Result<size_t> read(char* out, size_t capacity) override {
    return source_.read(out, capacity);
  }
  int64_t consumed_bytes() const override { return source_.consumed_bytes(); }
  int64_t total_bytes() const override { return source_.total_bytes(); }

 private:
  std::string bytes_;
  base::MemorySource source_;
};

}  // namespace

base::Result<std::unique_ptr<base::ByteSource>> open_packed(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::failed(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  std::string magic(kZstd.size(), '\0');
  in.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (magic.starts_with(kGzip)) return base::open_bytes(path);
  if (magic != kZstd) return nullptr;
  auto out = std::make_unique<ZstdSource>(path);
  const int opened = archive_read_open_filename(out->raw(), path.c_str(), kReadBlock);
  if (auto s = out->begin(opened); !s) return base::failure(s.error());
  return out;
}

base::Result<std::unique_ptr<base::ByteSource>> read_packed(std::string_view bytes,
                                                            const std::string& name) {
  if (bytes.starts_with(kGzip)) {
    auto content = base::gunzip(bytes, kMostInMemory);
    if (!content) return damaged(name, "damaged gzip data");
    return std::make_unique<OwnedSource>(std::move(*content));
  }
  if (!bytes.starts_with(kZstd)) return nullptr;
  auto out = std::make_unique<ZstdSource>(name);
  const int opened = archive_read_open_memory(out->raw(), bytes.data(), bytes.size());
  if (auto s = out->begin(opened); !s) return base::failure(s.error());
  return out;
}

}  // namespace goban::train::data
