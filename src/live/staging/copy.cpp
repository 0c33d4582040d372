#include "live/staging/copy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "base/file_checksum.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/units.hpp"
#include "live/staging/copy_io.hpp"
#include "live/staging/copy_notes.hpp"

namespace goban::live::staging {

namespace {

namespace fs = std::filesystem;
using base::Descriptor;
using base::Result;
using base::Status;
using Steady = std::chrono::steady_clock;

constexpr mode_t kOwnerOnly = 0700;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

tl::unexpected<base::Error> changed(const std::string& path) {
  return base::failed(fmt::format("{} changed while it was copied", base::printable(path)),
                      "it is copied again");
}

class Copy {
 public:
  Copy(const Tree& tree, const std::string& to, const std::string& notes,
       const CopyOptions& options)
      : tree_(tree), to_(to), options_(options), from_(Steady::now()), notes_(notes) {
    chunk_bytes_ = std::max<int64_t>(options.chunk_bytes, 1);
    // A slow copy says often how far it is.
    constexpr int64_t kLeast = 4096;
    if (options.bytes_per_s > 0) {
      const auto quarter = static_cast<int64_t>(options.bytes_per_s / 4);
      chunk_bytes_ = std::min(chunk_bytes_, std::max(quarter, kLeast));
    }
    buffer_.resize(static_cast<size_t>(chunk_bytes_));
  }

  Result<Copied> run() {
    if (auto status = prepare(); !status) return base::failure(status.error());
    for (const TreeEntry& entry : tree_.entries) {
      if (auto status = copy(entry); !status) return base::failure(status.error());
    }
    const auto now = list_tree(tree_.root, [&] { return goes_on(); });
    if (!now) return base::failed(now.error().message, now.error().remedy);
    if (now->version != tree_.version) return changed(tree_.root);
    if (!is_complete_) {
      if (auto status = verify(); !status) return base::failure(status.error());
    }
    if (auto status = open_folders(); !status) return base::failure(status.error());
    copied_.bytes = tree_.bytes;
    copied_.sha256 = digest();
    return copied_;
  }

 private:
  Status prepare() {
    const auto go_on = [this] { return goes_on(); };
    if (auto status = notes_.open(go_on); !status) return status;
    if (auto status = make_folders(fs::path(to_).parent_path().string()); !status) return status;
    if (tree_.is_folder) {
      if (auto status = make_folder("", to_); !status) return status;
    }
    is_complete_ = notes_.was_complete();
    if (options_.keeps_others) {
      if (auto status = lock_target(); !status) return status;
      if (auto status = check_others(); !status) return status;
    }
    return check_space();
  }

  [[nodiscard]] bool goes_on() const { return !options_.go_on || options_.go_on(done_bytes_); }

  /// Another copy to this folder would mix its files with these. Not all file systems have locks.
  Status lock_target() {
    if (!tree_.is_folder) return {};
    target_.reset(::open(to_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!target_) return passing_error("cannot read", to_);
    const bool has_locks = ::flock(target_.get(), LOCK_EX | LOCK_NB) == 0 || errno == EWOULDBLOCK;
    if (!has_locks) return {};
    return take_lock(target_.get(), to_,
                     fmt::format("another copy to {} goes on", base::printable(to_)),
                     [this] { return goes_on(); });
  }

  /// Nothing is copied beside files that would keep the rest away.
  Status check_others() const {
    for (const TreeEntry& entry : tree_.entries) {
      const std::string to = in_tree(to_, entry.path);
      if (entry.kind == TreeEntry::Kind::File && !is_there(entry) && is_others(entry, to)) {
        return exists(to);
      }
      if (entry.kind == TreeEntry::Kind::Link && !is_link(entry, to) && is_anything(to)) {
        return exists(to);
      }
    }
    return {};
  }

  Status check_space() {
    int64_t missing = 0;
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind == TreeEntry::Kind::File && !is_there(entry)) missing += entry.bytes;
    }
    if (missing == 0) return {};
    is_complete_ = false;
    const int64_t part_bytes =
        static_cast<int64_t>(notes_.part().chunks.size()) * notes_.part().chunk_bytes;
    missing -= std::min(missing, part_bytes);
    struct statvfs space{};
    const std::string place = tree_.is_folder ? to_ : fs::path(to_).parent_path().string();
    if (::statvfs(place.c_str(), &space) != 0) return passing_error("cannot read", place);
    const auto free = static_cast<int64_t>(space.f_bavail) * static_cast<int64_t>(space.f_frsize);
    if (free >= missing) return {};
    return base::failed(fmt::format("{} has {} of free space, and {} more are needed",
                                    base::printable(place), base::bytes_text(free),
                                    base::bytes_text(missing)));
  }

  /// The file was copied before, and what is there has its size and time.
  [[nodiscard]] bool is_there(const TreeEntry& entry) const {
    const auto found = notes_.files().find(entry.path);
    return found != notes_.files().end() && found->second.bytes == entry.bytes &&
           found->second.mtime_ns == entry.mtime_ns &&
           is_as_copied(in_tree(to_, entry.path), found->second);
  }

  /// Nobody else looks into a new folder before open_folders().
  Status make_folder(const std::string& path, const std::string& to) {
    if (::mkdir(to.c_str(), kOwnerOnly) != 0) {
      std::error_code none;
      if (errno == EEXIST && fs::is_directory(to, none)) return {};
      return passing_error("cannot make the folder", to);
    }
    return notes_.add_folder(path);
  }

  /// Gives the folders that this copy made the permissions of their sources, innermost first. The
  /// owner may always remove what is in them.
  Status open_folders() const {
    const auto open = [&](const std::string& path, uint32_t mode) -> Status {
      if (!notes_.folders().contains(path)) return {};
      const std::string to = in_tree(to_, path);
      if (::chmod(to.c_str(), mode | kOwnerOnly) == 0) return {};
      return passing_error("cannot set the permissions of", to);
    };
    for (auto entry = tree_.entries.rbegin(); entry != tree_.entries.rend(); ++entry) {
      if (entry->kind != TreeEntry::Kind::Folder) continue;
      if (auto status = open(entry->path, entry->mode); !status) return status;
    }
    return tree_.is_folder ? open("", tree_.mode) : Status{};
  }

  static tl::unexpected<base::Error> exists(const std::string& path) {
    return base::bad_data(
        {}, fmt::format("{} exists, and it is not replaced by the results", base::printable(path)),
        "move it away");
  }

  /// Something is there that is neither what this copy put there nor what it is to put there.
  [[nodiscard]] bool is_others(const TreeEntry& entry, const std::string& to) const {
    struct stat facts{};
    if (::lstat(to.c_str(), &facts) != 0) return false;
    if (!S_ISREG(facts.st_mode)) return true;
    const auto is_one = [&](int64_t bytes, int64_t mtime_ns) {
      return facts.st_size == bytes && has_mtime(facts, mtime_ns);
    };
    if (is_one(entry.bytes, entry.mtime_ns)) return false;
    const auto found = notes_.files().find(entry.path);
    return found == notes_.files().end() || !is_one(found->second.bytes, found->second.mtime_ns);
  }

  /// Never replaces what appeared there meanwhile, where the file system can tell.
  [[nodiscard]] bool rename_to(const std::string& part, const std::string& to) const {
    struct stat facts{};
    if (options_.keeps_others && ::lstat(to.c_str(), &facts) != 0) {
      // Not in every C library.
      constexpr unsigned kNoReplace = 1;
      if (::syscall(SYS_renameat2, AT_FDCWD, part.c_str(), AT_FDCWD, to.c_str(), kNoReplace) == 0) {
        return true;
      }
      if (errno != EINVAL && errno != ENOSYS) return false;
    }
    return ::rename(part.c_str(), to.c_str()) == 0;
  }

  Status copy(const TreeEntry& entry) {
    const std::string to = in_tree(to_, entry.path);
    if (entry.kind == TreeEntry::Kind::Folder) return make_folder(entry.path, to);
    if (entry.kind == TreeEntry::Kind::Link) return make_link(entry, to);
    if (is_there(entry)) return advance(entry.bytes);
    is_complete_ = false;
    if (options_.keeps_others && is_others(entry, to)) return exists(to);
    return copy_file(entry, to);
  }

  static bool is_anything(const std::string& path) {
    std::error_code none;
    return fs::symlink_status(path, none).type() != fs::file_type::not_found;
  }

  static bool is_link(const TreeEntry& entry, const std::string& to) {
    std::error_code none;
    return fs::is_symlink(to, none) && fs::read_symlink(to, none) == entry.target;
  }

  Status make_link(const TreeEntry& entry, const std::string& to) const {
    if (is_link(entry, to)) return {};
    if (options_.keeps_others) {
      if (is_anything(to)) return exists(to);
    } else {
      ::unlink(to.c_str());
    }
    if (::symlink(entry.target.c_str(), to.c_str()) == 0) return {};
    return passing_error("cannot make the link", to);
  }

  Status advance(int64_t bytes) {
    done_bytes_ += bytes;
    return goes_on() ? Status{} : base::failed("the copy was stopped");
  }

  void keep_pace() const {
    if (options_.bytes_per_s <= 0) return;
    const std::chrono::duration<double> due(static_cast<double>(copied_.copied_bytes) /
                                            options_.bytes_per_s);
    std::this_thread::sleep_until(from_ + std::chrono::duration_cast<Steady::duration>(due));
  }

  Status copy_file(const TreeEntry& entry, const std::string& to) {
    const std::string path = in_tree(tree_.root, entry.path);
    const Descriptor source(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!source) return changed_or("cannot read", path);
    if (!is_same(source.get(), entry)) return changed(path);
    const std::string part = part_name(notes_.folder(), to);
    const Descriptor target(::open(part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!target) return passing_error("cannot write", part);
    base::Sha256Stream digest;
    const int64_t kept = keep_checked(target.get(), entry, digest);
    if (::ftruncate(target.get(), kept) != 0) return passing_error("cannot write", part);
    const auto chunks = static_cast<size_t>((kept + chunk_bytes_ - 1) / chunk_bytes_);
    if (auto status = notes_.begin_part(entry, chunk_bytes_, chunks); !status) return status;
    if (auto status = advance(kept); !status) return status;
    for (int64_t at = kept; at < entry.bytes;) {
      const auto size = static_cast<size_t>(std::min(chunk_bytes_, entry.bytes - at));
      const ssize_t got = read_at(source.get(), buffer_.data(), size, at);
      if (got < 0) return path_error("cannot read", path);
      if (static_cast<size_t>(got) < size) return changed(path);
      const std::string_view chunk(buffer_.data(), size);
      digest.add(chunk);
      if (!write_at(target.get(), chunk, at)) return passing_error("cannot write", part);
      if (auto status = notes_.add_chunk(base::crc32_of(chunk)); !status) return status;
      at += static_cast<int64_t>(size);
      copied_.copied_bytes += static_cast<int64_t>(size);
      if (auto status = advance(static_cast<int64_t>(size)); !status) return status;
      keep_pace();
    }
    if (!is_same(source.get(), entry)) return changed(path);
    return place(entry, target.get(), part, to, base::hex(digest.digest()));
  }

  /// What vanished after it was listed has changed; it is no final failure.
  static Status changed_or(std::string_view what, const std::string& path) {
    if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR) return changed(path);
    return path_error(what, path);
  }

  static bool is_same(int file, const TreeEntry& entry) {
    struct stat facts{};
    return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == entry.bytes &&
           mtime_of(facts) == entry.mtime_ns;
  }

  /// Bytes at the front of a part that an earlier attempt wrote and that are as it wrote them.
  int64_t keep_checked(int target, const TreeEntry& entry, base::Sha256Stream& digest) {
    const CopiedPart& part = notes_.part();
    if (part.path != entry.path || part.bytes != entry.bytes || part.mtime_ns != entry.mtime_ns ||
        part.chunk_bytes != chunk_bytes_) {
      return 0;
    }
    int64_t at = 0;
    for (size_t i = 0; i < part.chunks.size() && at < entry.bytes; ++i) {
      const auto size = static_cast<size_t>(std::min(chunk_bytes_, entry.bytes - at));
      const ssize_t got = read_at(target, buffer_.data(), size, at);
      const std::string_view chunk(buffer_.data(), size);
      if (got != static_cast<ssize_t>(size) || base::crc32_of(chunk) != part.chunks[i]) break;
      digest.add(chunk);
      at += static_cast<int64_t>(size);
    }
    return at;
  }

  Status place(const TreeEntry& entry, int target, const std::string& part, const std::string& to,
               std::string sha256) {
    // Times before 1970 are negative; their nanoseconds are not.
    timespec time{.tv_sec = entry.mtime_ns / kNanosecondsPerSecond,
                  .tv_nsec = entry.mtime_ns % kNanosecondsPerSecond};
    if (time.tv_nsec < 0) {
      --time.tv_sec;
      time.tv_nsec += kNanosecondsPerSecond;
    }
    const std::array<timespec, 2> times{time, time};
    if (options_.keeps_others && is_others(entry, to)) return exists(to);
    // Once a file: what is lost of a part shows by the CRC of its chunk.
    if (::fchmod(target, entry.mode) != 0 || ::futimens(target, times.data()) != 0 ||
        ::fdatasync(target) != 0 || !rename_to(part, to)) {
      return passing_error("cannot write", to);
    }
    return notes_.add_file(
        entry.path,
        {.sha256 = std::move(sha256), .bytes = entry.bytes, .mtime_ns = entry.mtime_ns});
  }

  /// Reads all files back from where they are now.
  Status verify() {
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind != TreeEntry::Kind::File) continue;
      const std::string to = in_tree(to_, entry.path);
      const auto read = read_back(to);
      if (!read) return base::failure(read.error());
      if (*read == notes_.files().at(entry.path).sha256) continue;
      // Is copied again by the next attempt. What somebody else put there stays.
      if (is_there(entry)) ::unlink(to.c_str());
      return base::failed(
          fmt::format("{} does not have the checksum of its source", base::printable(to)),
          "it is copied again; if this happens again, check the disk");
    }
    return notes_.complete(digest());
  }

  Result<std::string> read_back(const std::string& to) {
    const Descriptor file(::open(to.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return passing_error("cannot read", to);
    (void)::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    base::Sha256Stream digest;
    for (int64_t at = 0;;) {
      const ssize_t got = read_at(file.get(), buffer_.data(), buffer_.size(), at);
      if (got < 0) return passing_error("cannot read", to);
      if (got == 0) break;
      digest.add({buffer_.data(), static_cast<size_t>(got)});
      at += got;
      if (!goes_on()) return base::failed("the copy was stopped");
    }
    return base::hex(digest.digest());
  }

  [[nodiscard]] std::string digest() const {
    if (!tree_.is_folder) return notes_.files().at("").sha256;
    base::Sha256Stream digest;
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind != TreeEntry::Kind::File) continue;
      digest.add(fmt::format("{}  {}\n", notes_.files().at(entry.path).sha256, entry.path));
    }
    return base::hex(digest.digest());
  }

  const Tree& tree_;
  const std::string& to_;
  const CopyOptions& options_;
  Steady::time_point from_;
  int64_t chunk_bytes_ = 0;
  std::string buffer_;
  CopyNotes notes_;
  Descriptor target_;
  bool is_complete_ = false;
  int64_t done_bytes_ = 0;
  Copied copied_;
};

}  // namespace

Result<Copied> copy_tree(const Tree& tree, const std::string& to, const std::string& notes,
                         const CopyOptions& options) {
  return Copy(tree, to, notes, options).run();
}

}  // namespace goban::live::staging
