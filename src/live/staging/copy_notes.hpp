// What a copy knows of itself. A folder of notes beside the copy has, until it is removed with the
// copy:
//   lock      held (flock) by the one process that copies
//   files     a line for each file copied: SHA-256, bytes, time of change, path
//   folders   a line for each folder made: its path
//   part      the file being copied: bytes of a chunk, bytes, time of change, path;
//             then a CRC-32 for each chunk
//   complete  Copied::sha256: all files were read back and had the checksums of their sources
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "live/staging/tree.hpp"

namespace goban::live::staging {

/// What `files` of the notes holds, by path.
struct CopiedFile {
  std::string sha256{};
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  friend bool operator==(const CopiedFile&, const CopiedFile&) = default;
};
/// Lines that cannot be read, such as the last one of a process that was
/// killed, are left out.
[[nodiscard]] std::map<std::string, CopiedFile> parse_copied_files(std::string_view text);

/// What `part` holds.
struct CopiedPart {
  std::string path{};
  int64_t chunk_bytes = 0;  ///< 0 = there is none
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  std::vector<uint32_t> chunks{};  ///< CRC-32 of each
};
[[nodiscard]] CopiedPart parse_copied_part(std::string_view text);

/// `files` of the notes in this folder. Errors: see base::read_small_file().
[[nodiscard]] base::Result<std::map<std::string, CopiedFile>> read_copied_files(
    const std::string& notes);
/// `part` of the notes in this folder; without chunk_bytes if there is none.
[[nodiscard]] CopiedPart read_copied_part(const std::string& notes);

/// Copied::sha256 of a copy that was completed; empty: it was not.
[[nodiscard]] std::string completed(const std::string& notes);
/// From now on it is not complete.
void forget_completed(const std::string& notes);

/// The file is where it was copied to, with its size and time of change.
[[nodiscard]] bool is_as_copied(const std::string& path, const CopiedFile& file);

/// Where the file that is to become `to` is written.
[[nodiscard]] std::string part_name(const std::string& notes, const std::string& to);

/// The notes of the copy that this process makes. All errors are Failed.
class CopyNotes {
 public:
  explicit CopyNotes(std::string folder) : folder_(std::move(folder)) {}

  /// Waits for the process of a killed daemon, which ends within a chunk, and
  /// reads what earlier attempts noted. `go_on` as in CopyOptions.
  [[nodiscard]] base::Status open(const std::function<bool()>& go_on);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::map<std::string, CopiedFile>& files() const { return files_; }
  [[nodiscard]] const std::set<std::string>& folders() const { return folders_; }
  [[nodiscard]] const CopiedPart& part() const { return part_; }
  [[nodiscard]] bool was_complete() const { return was_complete_; }

  [[nodiscard]] base::Status add_folder(const std::string& path);
  /// The part is the file now.
  [[nodiscard]] base::Status add_file(const std::string& path, CopiedFile file);
  /// Begins or goes on with a part, of which so many chunks are kept.
  [[nodiscard]] base::Status begin_part(const TreeEntry& entry, int64_t chunk_bytes, size_t kept);
  [[nodiscard]] base::Status add_chunk(uint32_t crc32);
  [[nodiscard]] base::Status complete(const std::string& sha256);

 private:
  std::string folder_;
  base::Descriptor lock_{};
  base::Descriptor list_{};
  base::Descriptor chunks_{};
  bool was_complete_ = false;
  std::map<std::string, CopiedFile> files_{};
  std::set<std::string> folders_{};  ///< made by this copy
  CopiedPart part_{};
};

}  // namespace goban::live::staging
