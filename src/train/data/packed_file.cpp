#include "train/data/packed_file.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <filesystem>
#include <fmt/format.h>
#include <vector>
#include <zstd.h>

#include "base/output_file.hpp"
#include "base/text.hpp"

namespace goban::train::data {

struct PackedFile::Impl {
  explicit Impl(base::OutputFile out) : file(std::move(out)) {}
  ~Impl() {
    archive_write_free(gzip);
    ZSTD_freeCCtx(zstd);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  base::OutputFile file;
  // They write to `file`; null: it is not packed so. libarchive writes zstd without a checksum.
  archive* gzip = nullptr;
  ZSTD_CCtx* zstd = nullptr;
  std::vector<char> room{};  ///< for what zstd gives out

  void take(std::string_view packed) {
    file.buffer() += packed;
    file.write_out();
  }

  [[nodiscard]] base::Status failure() const {
    const char* why = archive_error_string(gzip);
    return base::failed(fmt::format("packing failed: {}", why == nullptr ? "unknown" : why));
  }

  base::Status pack_by_gzip() {
    gzip = archive_write_new();
    archive_write_set_format_raw(gzip);
    archive_write_add_filter_gzip(gzip);
    archive_write_set_filter_option(gzip, "gzip", "timestamp", nullptr);
    archive_write_set_bytes_in_last_block(gzip, 1);
    const auto sink = [](archive*, void* to, const void* bytes, size_t size) -> la_ssize_t {
      static_cast<Impl*>(to)->take({static_cast<const char*>(bytes), size});
      return static_cast<la_ssize_t>(size);
    };
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    const bool fine = archive_write_open(gzip, this, nullptr, sink, nullptr) == ARCHIVE_OK &&
                      archive_write_header(gzip, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return fine ? base::Status{} : failure();
  }

  void pack_by_zstd() {
    zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    room.resize(ZSTD_CStreamOutSize());
  }

  base::Status add_to_zstd(std::string_view bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (size_t left = 1; left > 0 && (end == ZSTD_e_end || in.pos < in.size);) {
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      left = ZSTD_compressStream2(zstd, &out, &in, end);
      if (ZSTD_isError(left) != 0) {
        return base::failed(fmt::format("packing failed: {}", ZSTD_getErrorName(left)));
      }
      take({room.data(), out.pos});
      if (end == ZSTD_e_continue) left = 1;
    }
    return {};
  }
};

PackedFile::PackedFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PackedFile::~PackedFile() = default;

base::Result<std::unique_ptr<PackedFile>> PackedFile::create(const std::string& path) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  auto impl = std::make_unique<Impl>(std::move(*file));
  const std::string name = base::lowered(path);
  if (name.ends_with("gz")) {
    if (auto s = impl->pack_by_gzip(); !s) return base::failure(s.error());
  } else if (name.ends_with(".zst")) {
    impl->pack_by_zstd();
  }
  return std::unique_ptr<PackedFile>(new PackedFile(std::move(impl)));
}

base::Status PackedFile::write(std::string_view bytes) {
  if (impl_->zstd != nullptr) return impl_->add_to_zstd(bytes, ZSTD_e_continue);
  if (impl_->gzip == nullptr) {
    impl_->take(bytes);
    return {};
  }
  const la_ssize_t written = archive_write_data(impl_->gzip, bytes.data(), bytes.size());
  return written == static_cast<la_ssize_t>(bytes.size()) ? base::Status{} : impl_->failure();
}

base::Status PackedFile::finish() {
  if (impl_->gzip != nullptr && archive_write_close(impl_->gzip) != ARCHIVE_OK) {
    return impl_->failure();
  }
  if (impl_->zstd != nullptr) {
    if (auto s = impl_->add_to_zstd({}, ZSTD_e_end); !s) return s;
  }
  return impl_->file.commit();
}

bool would_replace(const std::string& path, const std::vector<std::string>& sources) {
  return std::ranges::any_of(sources, [&](const std::string& source) {
    std::error_code absent;
    return std::filesystem::equivalent(source, path, absent);
  });
}

}  // namespace goban::train::data
