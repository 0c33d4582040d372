#include "train/data/packed_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "base/output_file.hpp"
#include "base/text.hpp"

namespace goban::train::data {

struct PackedFile::Impl {
  explicit Impl(base::OutputFile out) : file(std::move(out)) {}
  ~Impl() { archive_write_free(packer); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  base::OutputFile file;
  archive* packer = nullptr;  ///< writes to `file`; null: not packed

  [[nodiscard]] base::Status failure() const {
    const char* why = archive_error_string(packer);
    return base::failed(fmt::format("packing failed: {}", why == nullptr ? "unknown" : why));
  }
  base::Status pack_by(bool gzip) {
    packer = archive_write_new();
    archive_write_set_format_raw(packer);
    if (gzip) {
      archive_write_add_filter_gzip(packer);
      archive_write_set_filter_option(packer, "gzip", "timestamp", nullptr);
    } else {
      archive_write_add_filter_zstd(packer);
    }
    archive_write_set_bytes_in_last_block(packer, 1);
    const auto sink = [](archive*, void* to, const void* bytes, size_t size) -> la_ssize_t {
      auto* into = static_cast<base::OutputFile*>(to);
      into->buffer().append(static_cast<const char*>(bytes), size);
      into->write_out();
      return static_cast<la_ssize_t>(size);
    };
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    const bool fine = archive_write_open(packer, &file, nullptr, sink, nullptr) == ARCHIVE_OK &&
                      archive_write_header(packer, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return fine ? base::Status{} : failure();
  }
};

PackedFile::PackedFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PackedFile::~PackedFile() = default;

base::Result<std::unique_ptr<PackedFile>> PackedFile::create(const std::string& path) {
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  auto impl = std::make_unique<Impl>(std::move(*file));
  const std::string name = base::lowered(path);
  const bool gzip = name.ends_with("gz");
  if (gzip || name.ends_with(".zst")) {
    if (auto s = impl->pack_by(gzip); !s) return base::failure(s.error());
  }
  return std::unique_ptr<PackedFile>(new PackedFile(std::move(impl)));
}

base::Status PackedFile::write(std::string_view bytes) {
  if (impl_->packer == nullptr) {
    impl_->file.buffer() += bytes;
    impl_->file.write_out();
    return {};
  }
  const la_ssize_t written = archive_write_data(impl_->packer, bytes.data(), bytes.size());
  return written == static_cast<la_ssize_t>(bytes.size()) ? base::Status{} : impl_->failure();
}

base::Status PackedFile::finish() {
  if (impl_->packer != nullptr && archive_write_close(impl_->packer) != ARCHIVE_OK) {
    return impl_->failure();
  }
  return impl_->file.commit();
}

}  // namespace goban::train::data
