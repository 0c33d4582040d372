#include "train/data/tar_reader.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fmt/format.h>
#include <fstream>

#include "base/file_checksum.hpp"
#include "base/text.hpp"
#include "train/data/packed_bytes.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kReadBlock = size_t{256} << 10;
constexpr size_t kGrowth = size_t{1} << 20;  // a header may declare more bytes than there are
constexpr size_t kTarBlock = 512;
constexpr size_t kMostHoles = size_t{64} << 20;  // of one sample: they need no bytes of the file

struct CloseArchive {
  void operator()(archive* open) const { archive_read_free(open); }
};

class TarReader final : public ShardReader {
 public:
  explicit TarReader(std::string name) : name_(std::move(name)), archive_(archive_read_new()) {
    archive_read_support_format_tar(archive_.get());
  }

  base::Status open(const std::string& path) {
    path_ = path;
    return open(open_packed(path), [&] {
      return archive_read_open_filename(archive_.get(), path.c_str(), kReadBlock);
    });
  }
  base::Status open(std::string_view bytes) {
    bytes_ = bytes;
    return open(read_packed(bytes, name_), [&] {
      return archive_read_open_memory(archive_.get(), bytes.data(), bytes.size());
    });
  }

  base::Result<bool> next(Sample& sample) override {
    return take([&] { return read_member(sample); }, [&] { sample = {key_, {}, name_, header_}; });
  }
  base::Result<bool> skip() override {
    // libarchive passes over the bytes with the next header
    return take([] { return base::Status{}; }, [] {});
  }
  base::Result<bool> glance(uint32_t& sum) override {
    return take([&] { return sum_member(sum); }, [] {});
  }

 private:
  /// `plain` opens what is not packed.
  template <typename Plain>
  base::Status open(base::Result<std::unique_ptr<base::ByteSource>> packed, const Plain& plain) {
    if (!packed) return base::failure(packed.error());
    unpacked_ = std::move(*packed);
    const int code =
        unpacked_ ? archive_read_open2(archive_.get(), this, nullptr, &unpack, nullptr, nullptr)
                  : plain();
    return code == ARCHIVE_OK ? base::Status{} : opening_failed();
  }
  /// libarchive's callback.
  static la_ssize_t unpack(archive* open, void* self, const void** out) {
    auto* reader = static_cast<TarReader*>(self);
    const auto count = reader->unpack_block();
    *out = reader->block_.data();
    if (count) return static_cast<la_ssize_t>(*count);
    const bool damaged = count.error().code == base::ErrorCode::BadData;
    archive_set_error(open, damaged ? EILSEQ : EIO, "%s", count.error().message.c_str());
    return -1;
  }
  base::Result<size_t> unpack_block() {
    block_.resize(kReadBlock);
    auto count = unpacked_->read(block_.data(), kReadBlock);
    if (!count) return count;
    const size_t last = std::string_view(block_).substr(0, *count).find_last_not_of('\0');
    if (last != std::string_view::npos) content_end_ = unpacked_bytes_ + static_cast<int64_t>(last);
    unpacked_bytes_ += static_cast<int64_t>(*count);
    return count;
  }

  /// The place of a byte that is not NUL, from `begin` on; -1: there is none. Reads to the end of a
  /// packed file, where its checksums are.
  base::Result<int64_t> content_from(int64_t begin) {
    if (unpacked_) {
      while (true) {
        const auto count = unpack_block();
        if (!count) return base::failure(count.error());
        if (*count == 0) return content_end_ >= begin ? content_end_ : -1;
      }
    }
    if (path_.empty()) {
      const size_t last = bytes_.find_last_not_of('\0');
      const bool behind = last != std::string_view::npos && last >= static_cast<size_t>(begin);
      return behind ? static_cast<int64_t>(last) : -1;
    }
    std::ifstream in(path_, std::ios::binary);
    in.seekg(begin);
    block_.resize(kReadBlock);
    for (int64_t at = begin; in; at += in.gcount()) {
      in.read(block_.data(), kReadBlock);
      const auto count = static_cast<size_t>(in.gcount());
      const size_t found = std::string_view(block_).substr(0, count).find_first_not_of('\0');
      if (found != std::string_view::npos) return at + static_cast<int64_t>(found);
    }
    return -1;
  }

  base::Status opening_failed() {
    const char* why = archive_error_string(archive_.get());
    const std::string text = why == nullptr ? "damaged" : why;
    // Other numbers than those of the system, and none, are those of damaged contents.
    const int number = archive_errno(archive_.get());
    if (number > 0 && number != EILSEQ) {
      return base::failed(fmt::format("cannot open '{}': {}", name_, text));
    }
    return base::bad_data({name_, 0, 0, ""},
                          "is no tar shard, or damaged at its first byte: " + text,
                          "fetch or write it again; see goban-train data pack");
  }

  base::Error broken(const std::string& what) {
    const char* why = archive_error_string(archive_.get());
    return {base::ErrorCode::BadData,
            fmt::format("{} at byte {}: {}", what, header_, why == nullptr ? "damaged" : why),
            {name_, 0, 0, ""},
            "the shard is truncated or damaged: fetch or write it again"};
  }

  /// Two empty blocks end a tar; libarchive takes the end of the file for them, too. A file that
  /// was cut between two members would seem whole. What follows the end would vanish.
  base::Status check_end() {
    const int64_t begins = archive_read_header_position(archive_.get());
    const int64_t ends = archive_filter_bytes(archive_.get(), 0);
    if (ends - begins >= static_cast<int64_t>(kTarBlock)) {
      const auto behind = content_from(begins);
      if (!behind) return base::failure(behind.error());
      if (*behind < 0) return {};
      return base::bad_data(
          {name_, 0, 0, ""},
          fmt::format("its tar ends at byte {}, and more follows (byte {})", begins, *behind),
          "the shard is damaged, or was joined from several tars (tar --concatenate joins them)");
    }
    return base::bad_data(
        {name_, 0, 0, ""},
        fmt::format("ends at byte {} without the empty blocks that end a tar", begins),
        "the shard is truncated: fetch or write it again; to a plain one known to be whole, "
        "truncate -s +1024 adds them");
  }

  /// Reads headers up to the next file that belongs to a sample. False at the end.
  base::Result<bool> advance() {
    while (true) {
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(archive_.get(), &entry);
      if (code == ARCHIVE_EOF) {
        held_ = false;
        if (auto s = check_end(); !s) return base::failure(s.error());
        return false;
      }
      if (const int64_t at = archive_read_header_position(archive_.get()); at >= 0) {
        header_ = at;
      } else if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
        return base::failure(broken("stops after the member"));
      }
      // A warning: the name is not of this process's character set; its bytes are kept.
      if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return base::failure(broken("stops"));
      const char* raw = archive_entry_pathname(entry);
      if (raw == nullptr) return base::failure(broken("has a name that cannot be read"));
      if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
        continue;
      }
      const std::string_view name(raw);
      const auto parts = split_name(name);
      if (!parts) continue;
      if (auto s = check_name(name, name_, header_); !s) return base::failure(s.error());
      key_.assign(parts->key);
      field_ = base::lowered(parts->field);
      size_ = archive_entry_size(entry);
      sparse_ = archive_entry_sparse_count(entry) > 0;
      held_ = true;
      return true;
    }
  }

  /// Reads the member, or its first bytes.
  base::Status read_bytes(std::string& out, size_t most = SIZE_MAX) {
    if (size_ < 0 || static_cast<uint64_t>(size_) > kLargestField) {
      return base::bad_data(
          {name_, 0, 0, ""},
          fmt::format("the member '{}.{}' at byte {} declares {} bytes; at most {} are read", key_,
                      field_, header_, size_, kLargestField),
          "the header is damaged, or the file does not belong into a shard");
    }
    out.clear();
    const auto size = static_cast<size_t>(size_);
    const size_t wanted = std::min(size, most);
    out.reserve(std::min(wanted, kGrowth));
    while (out.size() < wanted || most == SIZE_MAX) {
      const void* block = nullptr;
      size_t count = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(archive_.get(), &block, &count, &offset);
      if (code == ARCHIVE_EOF) {
        if (sparse_ && out.size() < wanted) {  // it ends with a hole
          if (auto s = add_hole(out, wanted); !s) return s;
        }
        break;
      }
      if (code != ARCHIVE_OK) {
        return base::failure(broken(fmt::format("'{}.{}' breaks off", key_, field_)));
      }
      const auto at = static_cast<uint64_t>(offset);
      if (sparse_ && at > out.size() && at <= size) {
        const bool is_enough = at >= wanted;
        if (auto s = add_hole(out, is_enough ? wanted : at); !s) return s;
        if (is_enough && most != SIZE_MAX) break;
      }
      if (at != out.size() || out.size() + count > size) {
        return base::failure(broken(fmt::format("'{}.{}' does not fit its size", key_, field_)));
      }
      out.append(static_cast<const char*>(block), count);
    }
    if (out.size() < wanted) {
      return base::failure(
          broken(fmt::format("'{}.{}' has {} of {} bytes", key_, field_, out.size(), size)));
    }
    return {};
  }

  base::Status add_hole(std::string& out, uint64_t end) {
    holes_ += end - out.size();
    if (holes_ > kMostHoles) {
      return base::bad_data(
          {name_, 0, 0, ""},
          fmt::format(
              "the sparse files of the sample '{}', up to '{}' at byte {}, have holes of {} bytes; "
              "at most {} are read",
              key_, field_, header_, holes_, kMostHoles),
          "pack the folder with goban-train data pack, or with tar without --sparse");
    }
    out.resize(end);
    return {};
  }

  base::Status sum_member(uint32_t& sum) {
    if (auto s = read_bytes(first_, kSummedBytes); !s) return s;
    first_.resize(std::min(first_.size(), kSummedBytes));
    sum = base::crc32_of(
        fmt::format("{:08x} {}.{} {} {:08x}", sum, key_, field_, size_, base::crc32_of(first_)));
    return {};
  }

  base::Status read_member(Sample& sample) {
    if (sample.find(field_) != nullptr) {
      return base::bad_data({name_, 0, 0, ""},
                            fmt::format("sample '{}' has two fields '{}'; the second is at byte {}",
                                        key_, field_, header_),
                            "names must differ after the first dot; upper case does not count");
    }
    sample.fields.emplace_back();
    sample.fields.back().name = field_;
    return read_bytes(sample.fields.back().bytes);
  }

  /// Passes over one sample: `begin` before its members, `member` for each.
  template <typename Member, typename Begin>
  base::Result<bool> take(const Member& member, const Begin& begin) {
    if (!held_) {
      const auto more = ended_ ? base::Result<bool>(false) : advance();
      if (!more || !*more) {
        ended_ = true;
        return more;
      }
    }
    const std::string key = key_;
    holes_ = 0;
    begin();
    while (held_ && key_ == key) {
      if (auto s = member(); !s) return base::failure(s.error());
      const auto more = advance();
      if (!more) return more;
      if (!*more) ended_ = true;
    }
    return true;
  }

  std::string name_;
  std::unique_ptr<base::ByteSource> unpacked_;     ///< of a packed file
  std::string block_;                              ///< read from it
  int64_t unpacked_bytes_ = 0, content_end_ = -1;  ///< of it: read, the last that is not NUL
  std::string path_;                               ///< of a file
  std::string_view bytes_;                         ///< without a file
  std::unique_ptr<archive, CloseArchive> archive_;
  // The member whose header was read last.
  bool held_ = false, ended_ = false, sparse_ = false;
  std::string key_, field_, first_;
  int64_t size_ = 0, header_ = 0;
  uint64_t holes_ = 0;  ///< bytes in holes of the sample so far
};

template <typename Source>
base::Result<std::unique_ptr<ShardReader>> opened_tar(const std::string& name,
                                                      const Source& source) {
  auto reader = std::make_unique<TarReader>(name);
  if (auto s = reader->open(source); !s) return base::failure(s.error());
  return reader;
}

}  // namespace

base::Result<std::unique_ptr<ShardReader>> open_tar(const std::string& path) {
  return opened_tar(path, path);
}

base::Result<std::unique_ptr<ShardReader>> read_tar(std::string_view bytes,
                                                    const std::string& name) {
  return opened_tar(name, bytes);
}

}  // namespace goban::train::data
