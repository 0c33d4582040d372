#include "train/data/packed_bytes.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

#include "base/gzip.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kReadBlock = size_t{256} << 10;
constexpr size_t kMostInMemory = size_t{64} << 20;
constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr size_t kSkippableHeader = 8;

tl::unexpected<base::Error> damaged(const std::string& name, const std::string& what) {
  const bool is_large = what.find("too much memory") != std::string::npos;
  return base::bad_data({name, 0, 0, ""}, what,
                        is_large ? "its window is larger than 128 MiB: pack it with zstd --long=27"
                                 : "the shard is truncated or damaged: fetch or write it again");
}

struct CloseArchive {
  void operator()(archive* open) const { archive_read_free(open); }
};

struct CloseFile {
  void operator()(FILE* open) const { (void)std::fclose(open); }
};

/// What a skippable frame has in all, as pzstd writes one before each frame; 0: it is none.
/// `header` is its first eight bytes.
size_t skippable_bytes(std::string_view header) {
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(header[i])); };
  if (header.size() < kSkippableHeader || byte(0) >> 4U != 5 ||
      header.substr(1, 3) != "\x2a\x4d\x18") {
    return 0;
  }
  return kSkippableHeader + (byte(4) | byte(5) << 8U | byte(6) << 16U | byte(7) << 24U);
}

/// libarchive's filter for zstd alone: its reader of tars leaves what follows the end of the tar,
/// and with it the checksum of the file. It knows no file that begins with skippable frames: these
/// are left to its caller.
class ZstdSource final : public base::ByteSource {
 public:
  explicit ZstdSource(std::string name, FILE* file = nullptr)
      : file_(file), name_(std::move(name)), archive_(archive_read_new()) {
    archive_read_support_format_raw(archive_.get());
    archive_read_support_filter_zstd(archive_.get());
  }
  archive* raw() { return archive_.get(); }
  FILE* file() { return file_.get(); }
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
  std::unique_ptr<FILE, CloseFile> file_;  ///< that the archive reads, if it reads a file
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
  std::unique_ptr<FILE, CloseFile> in(std::fopen(path.c_str(), "rbe"));
  if (!in) return base::failed(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  std::string first;
  off_t at = 0;
  for (size_t skipped = 1; skipped > 0; at += static_cast<off_t>(skipped)) {
    first.resize(kSkippableHeader);
    (void)fseeko(in.get(), at, SEEK_SET);
    first.resize(std::fread(first.data(), 1, first.size(), in.get()));
    skipped = skippable_bytes(first);
  }
  if (first.starts_with(kGzip) && at == 0) return base::open_bytes(path);
  if (!first.starts_with(kZstd)) return nullptr;
  (void)fseeko(in.get(), at, SEEK_SET);
  auto out = std::make_unique<ZstdSource>(path, in.release());
  if (auto s = out->begin(archive_read_open_FILE(out->raw(), out->file())); !s) {
    return base::failure(s.error());
  }
  return out;
}

base::Result<std::unique_ptr<base::ByteSource>> read_packed(std::string_view bytes,
                                                            const std::string& name) {
  if (bytes.starts_with(kGzip)) {
    auto content = base::gunzip(bytes, kMostInMemory);
    if (!content) return damaged(name, "damaged gzip data");
    return std::make_unique<OwnedSource>(std::move(*content));
  }
  while (const size_t skipped = skippable_bytes(bytes)) {
    bytes.remove_prefix(std::min(skipped, bytes.size()));
  }
  if (!bytes.starts_with(kZstd)) return nullptr;
  auto out = std::make_unique<ZstdSource>(name);
  const int opened = archive_read_open_memory(out->raw(), bytes.data(), bytes.size());
  if (auto s = out->begin(opened); !s) return base::failure(s.error());
  return out;
}

}  // namespace goban::train::data
