#include "live/staging/copy_notes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "live/staging/copy_io.hpp"

namespace goban::live::staging {

namespace {

using base::Descriptor;
using base::Status;

constexpr const char* kFiles = "/files";
constexpr const char* kFolders = "/folders";
constexpr const char* kPart = "/part";
constexpr const char* kComplete = "complete";
constexpr size_t kDigestDigits = 64;
constexpr mode_t kOwnerReads = 0600;

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

Descriptor open_to_append(const std::string& path) {
  return Descriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kOwnerReads));
}

}  // namespace

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

base::Result<std::map<std::string, CopiedFile>> read_copied_files(const std::string& notes) {
  const auto text = base::read_small_file(notes + kFiles, SIZE_MAX);
  if (!text) return base::failure(text.error());
  return parse_copied_files(*text);
}

CopiedPart read_copied_part(const std::string& notes) {
  const auto text = base::read_small_file(notes + kPart, SIZE_MAX);
  return text ? parse_copied_part(*text) : CopiedPart{};
}

std::string completed(const std::string& notes) {
  const auto text = base::read_small_file(notes + "/" + kComplete, size_t{1} << 10);
  return text ? std::string(base::trimmed(*text)) : std::string{};
}

void forget_completed(const std::string& notes) { ::unlink((notes + "/" + kComplete).c_str()); }

bool is_as_copied(const std::string& path, const CopiedFile& file) {
  struct stat facts{};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         facts.st_size == file.bytes && has_mtime(facts, file.mtime_ns);
}

std::string part_name(const std::string& notes, const std::string& to) {
  constexpr size_t kDigits = 12;
  const std::string mark = base::hex(base::sha256(notes)).substr(0, kDigits);
  const std::filesystem::path folder = std::filesystem::path(to).parent_path();
  return (folder / (".goban-" + mark + ".part")).string();
}

Status CopyNotes::open(const std::function<bool()>& go_on) {
  if (auto status = make_folders(folder_); !status) return status;
  const std::string lock = folder_ + "/lock";
  lock_.reset(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerReads));
  if (!lock_) return passing_error("cannot write", lock);
  constexpr const char* kBusy = "another process still copies the same data";
  if (auto status = take_lock(lock_.get(), lock, kBusy, go_on); !status) return status;
  if (const auto text = base::read_small_file(folder_ + kFolders, SIZE_MAX)) {
    std::string_view rest = *text;
    while (!rest.empty()) {
      bool is_whole = false;
      const std::string_view line = take_line(rest, is_whole);
      if (is_whole) folders_.emplace(line);
    }
  }
  was_complete_ = base::exists(folder_ + "/" + kComplete);
  if (auto files = read_copied_files(folder_)) files_ = std::move(*files);
  part_ = read_copied_part(folder_);
  list_ = open_to_append(folder_ + kFiles);
  // A line that a killed process did not end must not swallow the next one.
  if (!list_ || !base::write_all(list_.get(), "\n")) {
    return passing_error("cannot write", folder_ + kFiles);
  }
  return {};
}

Status CopyNotes::add_folder(const std::string& path) {
  const Descriptor list = open_to_append(folder_ + kFolders);
  if (!list || !base::write_all(list.get(), path + "\n")) {
    return passing_error("cannot write", folder_ + kFolders);
  }
  folders_.insert(path);
  return {};
}

Status CopyNotes::add_file(const std::string& path, CopiedFile file) {
  const std::string line =
      fmt::format("{} {} {} {}\n", file.sha256, file.bytes, file.mtime_ns, path);
  if (!base::write_all(list_.get(), line)) return passing_error("cannot write", folder_ + kFiles);
  files_[path] = std::move(file);
  part_ = {};
  chunks_.reset();
  ::unlink((folder_ + kPart).c_str());
  return {};
}

Status CopyNotes::begin_part(const TreeEntry& entry, int64_t chunk_bytes, size_t kept) {
  part_.chunks.resize(kept);
  part_ = {.path = entry.path,
           .chunk_bytes = chunk_bytes,
           .bytes = entry.bytes,
           .mtime_ns = entry.mtime_ns,
           .chunks = std::move(part_.chunks)};
  std::string text =
      fmt::format("{} {} {} {}\n", chunk_bytes, entry.bytes, entry.mtime_ns, entry.path);
  for (const uint32_t crc32 : part_.chunks) text += fmt::format("{:08x}\n", crc32);
  const std::string path = folder_ + kPart;
  chunks_.reset(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kOwnerReads));
  if (chunks_ && base::write_all(chunks_.get(), text)) return {};
  return passing_error("cannot write", path);
}

Status CopyNotes::add_chunk(uint32_t crc32) {
  if (base::write_all(chunks_.get(), fmt::format("{:08x}\n", crc32))) return {};
  return passing_error("cannot write", folder_ + kPart);
}

Status CopyNotes::complete(const std::string& sha256) {
  return base::replace_file(folder_, kComplete, sha256 + "\n", base::Durable::Yes);
}

}  // namespace goban::live::staging
