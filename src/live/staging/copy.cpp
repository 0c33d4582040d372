#include "live/staging/copy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "base/file_checksum.hpp"
#include "base/files.hpp"
#include "base/number.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace goban::live::staging {

namespace {

namespace fs = std::filesystem;
using base::Descriptor;
using base::Result;
using base::Status;
using Steady = std::chrono::steady_clock;

constexpr const char* kFiles = "/files";
constexpr const char* kFolders = "/folders";
constexpr const char* kPart = "/part";
constexpr mode_t kOwnerOnly = 0700;
constexpr const char* kComplete = "complete";
constexpr size_t kDigestDigits = 64;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

int64_t mtime_of(const struct stat& facts) {
  return facts.st_mtim.tv_sec * kNanosecondsPerSecond + facts.st_mtim.tv_nsec;
}

tl::unexpected<base::Error> changed(const std::string& path) {
  return base::failed(fmt::format("{} changed while it was copied", base::printable(path)),
                      "it is copied again");
}

/// The next word of a line, up to a blank.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

std::string_view take_line(std::string_view& text, bool& is_whole) {
  const size_t end = text.find('\n');
  is_whole = end != text.npos;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(is_whole ? end + 1 : text.size());
  return line;
}

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Reads up to the end of the file or of the buffer.
ssize_t read_at(int file, char* to, size_t size, int64_t at) {
  size_t got = 0;
  while (got < size) {
    const ssize_t count = ::pread(file, to + got, size - got, at + static_cast<int64_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    got += static_cast<size_t>(count);
  }
  return static_cast<ssize_t>(got);
}

bool write_at(int file, std::string_view bytes, int64_t at) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    at += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

Status make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return {};
  errno = error.value();
  return passing_error("cannot make the folder", path);
}

class Copy {
 public:
  Copy(const Tree& tree, const std::string& to, const std::string& notes,
       const CopyOptions& options)
      : tree_(tree), to_(to), notes_(notes), options_(options), from_(Steady::now()) {
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
    const auto now =
        list_tree(tree_.root, [&] { return !options_.go_on || options_.go_on(done_bytes_); });
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
    if (auto status = make_folders(notes_); !status) return status;
    if (auto status = lock(); !status) return status;
    if (auto status = make_folders(fs::path(to_).parent_path().string()); !status) return status;
    if (const auto text = base::read_small_file(notes_ + kFolders, SIZE_MAX)) read_folders(*text);
    if (tree_.is_folder) {
      if (auto status = make_folder("", to_); !status) return status;
    }
    is_complete_ = base::exists(notes_ + "/" + kComplete);
    if (const auto text = base::read_small_file(notes_ + kFiles, SIZE_MAX)) {
      files_ = parse_copied_files(*text);
    }
    if (const auto text = base::read_small_file(notes_ + kPart, SIZE_MAX)) {
      part_ = parse_copied_part(*text);
    }
    list_.reset(::open((notes_ + kFiles).c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!list_) return passing_error("cannot write", notes_ + kFiles);
    // A line that a killed process did not end must not swallow the next one.
    if (!base::write_all(list_.get(), "\n")) return passing_error("cannot write", notes_ + kFiles);
    return check_space();
  }

  /// The process of a killed daemon ends by itself within a chunk.
  Status lock() {
    constexpr int kTries = 300;
    const std::string path = notes_ + "/lock";
    lock_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock_) return passing_error("cannot write", path);
    for (int i = 0; i < kTries; ++i) {
      if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
      if (errno != EWOULDBLOCK && errno != EINTR) return passing_error("cannot lock", path);
      if (options_.go_on && !options_.go_on(0)) return base::failed("the copy was stopped");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return base::failed("another process still copies the same data");
  }

  Status check_space() {
    int64_t missing = 0;
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind == TreeEntry::Kind::File && !is_there(entry)) missing += entry.bytes;
    }
    if (missing == 0) return {};
    is_complete_ = false;
    const int64_t part_bytes = static_cast<int64_t>(part_.chunks.size()) * part_.chunk_bytes;
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
    const auto found = files_.find(entry.path);
    if (found == files_.end() || found->second.bytes != entry.bytes ||
        found->second.mtime_ns != entry.mtime_ns) {
      return false;
    }
    struct stat facts{};
    return ::lstat(in_tree(to_, entry.path).c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size == entry.bytes && mtime_of(facts) == entry.mtime_ns;
  }

  void read_folders(std::string_view text) {
    while (!text.empty()) {
      bool is_whole = false;
      const std::string_view line = take_line(text, is_whole);
      if (is_whole) folders_.emplace(line);
    }
  }

  /// Nobody else looks into a new folder before open_folders().
  Status make_folder(const std::string& path, const std::string& to) {
    if (::mkdir(to.c_str(), kOwnerOnly) != 0) {
      std::error_code none;
      if (errno == EEXIST && fs::is_directory(to, none)) return {};
      return passing_error("cannot make the folder", to);
    }
    const Descriptor list(::open((notes_ + kFolders).c_str(),
                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!list || !base::write_all(list.get(), path + "\n")) {
      return passing_error("cannot write", notes_ + kFolders);
    }
    folders_.insert(path);
    return {};
  }

  /// Gives the folders that this copy made the permissions of their sources, innermost first. The
  /// owner may always remove what is in them.
  Status open_folders() const {
    const auto open = [&](const std::string& path, uint32_t mode) -> Status {
      if (!folders_.contains(path)) return {};
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
      return facts.st_size == bytes && mtime_of(facts) == mtime_ns;
    };
    if (is_one(entry.bytes, entry.mtime_ns)) return false;
    const auto found = files_.find(entry.path);
    return found == files_.end() || !is_one(found->second.bytes, found->second.mtime_ns);
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

  Status make_link(const TreeEntry& entry, const std::string& to) const {
    std::error_code none;
    if (fs::is_symlink(to, none) && fs::read_symlink(to, none) == entry.target) return {};
    if (options_.keeps_others) {
      if (fs::symlink_status(to, none).type() != fs::file_type::not_found) return exists(to);
    } else {
      ::unlink(to.c_str());
    }
    if (::symlink(entry.target.c_str(), to.c_str()) == 0) return {};
    return passing_error("cannot make the link", to);
  }

  Status advance(int64_t bytes) {
    done_bytes_ += bytes;
    if (!options_.go_on || options_.go_on(done_bytes_)) return {};
    return base::failed("the copy was stopped");
  }

  void keep_pace() const {
    if (options_.bytes_per_s <= 0) return;
    const std::chrono::duration<double> due(static_cast<double>(copied_.copied_bytes) /
                                            options_.bytes_per_s);
    std::this_thread::sleep_until(from_ + std::chrono::duration_cast<Steady::duration>(due));
  }

  [[nodiscard]] std::string part_name(const std::string& to) const {
    constexpr size_t kDigits = 12;
    const std::string mark = base::hex(base::sha256(notes_)).substr(0, kDigits);
    return (fs::path(to).parent_path() / (".goban-" + mark + ".part")).string();
  }

  Status copy_file(const TreeEntry& entry, const std::string& to) {
    const std::string path = in_tree(tree_.root, entry.path);
    const Descriptor source(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!source) return changed_or("cannot read", path);
    if (!is_same(source.get(), entry)) return changed(path);
    const std::string part = part_name(to);
    const Descriptor target(::open(part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!target) return passing_error("cannot write", part);
    base::Sha256Stream digest;
    const int64_t kept = keep_checked(target.get(), entry, digest);
    if (::ftruncate(target.get(), kept) != 0) return passing_error("cannot write", part);
    auto begun = begin_part(entry, kept);
    if (!begun) return base::failure(begun.error());
    if (auto status = advance(kept); !status) return status;
    for (int64_t at = kept; at < entry.bytes;) {
      const auto size = static_cast<size_t>(std::min(chunk_bytes_, entry.bytes - at));
      const ssize_t got = read_at(source.get(), buffer_.data(), size, at);
      if (got < 0) return path_error("cannot read", path);
      if (static_cast<size_t>(got) < size) return changed(path);
      const std::string_view chunk(buffer_.data(), size);
      digest.add(chunk);
      if (!write_at(target.get(), chunk, at)) return passing_error("cannot write", part);
      if (!base::write_all(begun->get(), fmt::format("{:08x}\n", base::crc32_of(chunk)))) {
        return passing_error("cannot write", notes_ + kPart);
      }
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
    if (part_.path != entry.path || part_.bytes != entry.bytes ||
        part_.mtime_ns != entry.mtime_ns || part_.chunk_bytes != chunk_bytes_) {
      part_.chunks.clear();
    }
    int64_t at = 0;
    for (size_t i = 0; i < part_.chunks.size() && at < entry.bytes; ++i) {
      const auto size = static_cast<size_t>(std::min(chunk_bytes_, entry.bytes - at));
      const ssize_t got = read_at(target, buffer_.data(), size, at);
      const std::string_view chunk(buffer_.data(), size);
      if (got != static_cast<ssize_t>(size) || base::crc32_of(chunk) != part_.chunks[i]) {
        part_.chunks.resize(i);
        break;
      }
      digest.add(chunk);
      at += static_cast<int64_t>(size);
    }
    return at;
  }

  /// Writes `part` for this file, with the chunks that are kept.
  Result<Descriptor> begin_part(const TreeEntry& entry, int64_t kept) {
    const std::string path = notes_ + kPart;
    std::string text =
        fmt::format("{} {} {} {}\n", chunk_bytes_, entry.bytes, entry.mtime_ns, entry.path);
    const auto chunks = static_cast<size_t>((kept + chunk_bytes_ - 1) / chunk_bytes_);
    for (size_t i = 0; i < chunks; ++i) text += fmt::format("{:08x}\n", part_.chunks[i]);
    Descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || !base::write_all(file.get(), text)) return passing_error("cannot write", path);
    return file;
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
    const std::string line =
        fmt::format("{} {} {} {}\n", sha256, entry.bytes, entry.mtime_ns, entry.path);
    if (!base::write_all(list_.get(), line)) return passing_error("cannot write", notes_ + kFiles);
    files_[entry.path] = {
        .sha256 = std::move(sha256), .bytes = entry.bytes, .mtime_ns = entry.mtime_ns};
    part_ = {};
    ::unlink((notes_ + kPart).c_str());
    return {};
  }

  /// Reads all files back from where they are now.
  Status verify() {
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind != TreeEntry::Kind::File) continue;
      const std::string to = in_tree(to_, entry.path);
      const auto read = read_back(to);
      if (!read) return base::failure(read.error());
      if (*read == files_.at(entry.path).sha256) continue;
      // Is copied again by the next attempt. What somebody else put there stays.
      if (is_there(entry)) ::unlink(to.c_str());
      return base::failed(
          fmt::format("{} does not have the checksum of its source", base::printable(to)),
          "it is copied again; if this happens again, check the disk");
    }
    return base::replace_file(notes_, kComplete, digest() + "\n", base::Durable::Yes);
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
      if (options_.go_on && !options_.go_on(done_bytes_)) {
        return base::failed("the copy was stopped");
      }
    }
    return base::hex(digest.digest());
  }

  [[nodiscard]] std::string digest() const {
    if (!tree_.is_folder) return files_.at("").sha256;
    base::Sha256Stream digest;
    for (const TreeEntry& entry : tree_.entries) {
      if (entry.kind != TreeEntry::Kind::File) continue;
      digest.add(fmt::format("{}  {}\n", files_.at(entry.path).sha256, entry.path));
    }
    return base::hex(digest.digest());
  }

  const Tree& tree_;
  const std::string& to_;
  const std::string& notes_;
  const CopyOptions& options_;
  Steady::time_point from_;
  int64_t chunk_bytes_ = 0;
  std::string buffer_;
  Descriptor lock_;
  Descriptor list_;
  bool is_complete_ = false;
  std::map<std::string, CopiedFile> files_;
  std::set<std::string> folders_;  ///< made by this copy
  CopiedPart part_;
  int64_t done_bytes_ = 0;
  Copied copied_;
};

Status remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  return base::failed(fmt::format("cannot remove {}: {}", base::printable(path), error.message()));
}

}  // namespace

Result<Copied> copy_tree(const Tree& tree, const std::string& to, const std::string& notes,
                         const CopyOptions& options) {
  return Copy(tree, to, notes, options).run();
}

std::string completed(const std::string& notes) {
  const auto text = base::read_small_file(notes + "/" + kComplete, size_t{1} << 10);
  return text ? std::string(base::trimmed(*text)) : std::string{};
}

std::map<std::string, CopiedFile> parse_copied_files(std::string_view text) {
  std::map<std::string, CopiedFile> files;
  while (!text.empty()) {
    bool is_whole = false;
    std::string_view line = take_line(text, is_whole);
    if (!is_whole) break;
    const std::string_view sha256 = take_word(line);
    const auto bytes = base::parse_int(take_word(line));
    const auto mtime_ns = base::parse_int(take_word(line));
    if (!is_digest(sha256) || !bytes || *bytes < 0 || !mtime_ns) continue;
    files[std::string(line)] = {
        .sha256 = std::string(sha256), .bytes = *bytes, .mtime_ns = *mtime_ns};
  }
  return files;
}

CopiedPart parse_copied_part(std::string_view text) {
  constexpr size_t kCrcDigits = 8;
  constexpr int kHexadecimal = 16;
  CopiedPart part;
  bool is_whole = false;
  std::string_view line = take_line(text, is_whole);
  const auto chunk = base::parse_int(take_word(line));
  const auto bytes = base::parse_int(take_word(line));
  const auto mtime_ns = base::parse_int(take_word(line));
  if (!is_whole || !chunk || *chunk < 1 || !bytes || *bytes < 0 || !mtime_ns) return {};
  part = {.path = std::string(line), .chunk_bytes = *chunk, .bytes = *bytes, .mtime_ns = *mtime_ns};
  while (!text.empty()) {
    const std::string_view crc = take_line(text, is_whole);
    uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(crc.data(), crc.data() + crc.size(), value, kHexadecimal);
    const bool is_good = is_whole && error == std::errc() && crc.size() == kCrcDigits &&
                         end == crc.data() + crc.size();
    if (!is_good) break;
    part.chunks.push_back(value);
  }
  return part;
}

Status remove_copied(const Tree& tree, const std::string& notes) {
  if (!base::exists(notes + "/" + kComplete)) return {};
  const auto text = base::read_small_file(notes + kFiles, SIZE_MAX);
  if (!text) return base::failure(text.error());
  const auto files = parse_copied_files(*text);
  for (const TreeEntry& entry : tree.entries) {
    const std::string path = in_tree(tree.root, entry.path);
    if (entry.kind == TreeEntry::Kind::Link) ::unlink(path.c_str());
    const auto copied = files.find(entry.path);
    if (entry.kind != TreeEntry::Kind::File || copied == files.end()) continue;
    struct stat facts{};
    const bool is_same = ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                         facts.st_size == copied->second.bytes &&
                         mtime_of(facts) == copied->second.mtime_ns;
    if (is_same && ::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return passing_error("cannot remove", path);
    }
  }
  // Folders, innermost first: only empty ones go.
  for (auto entry = tree.entries.rbegin(); entry != tree.entries.rend(); ++entry) {
    if (entry->kind == TreeEntry::Kind::Folder) ::rmdir(in_tree(tree.root, entry->path).c_str());
  }
  if (tree.is_folder) ::rmdir(tree.root.c_str());
  return {};
}

Status remove_copy(const std::string& copy, const std::string& notes) {
  // Who still copies it would make what is removed.
  const Descriptor lock(::open((notes + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  constexpr int kTries = 100;
  for (int i = 0; lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    if (i == kTries) return base::failed("another process still copies the same data");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  // The mark goes first: what is left of the copy is not taken for a complete one.
  ::unlink((notes + "/" + kComplete).c_str());
  if (auto status = remove_all(copy); !status) return status;
  return remove_all(notes);
}

}  // namespace goban::live::staging
