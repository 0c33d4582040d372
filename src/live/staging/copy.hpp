// Copies a tree so that it is complete and checked, or goes on later where it stopped.
//
// A folder of notes beside the copy has, until it is removed with the copy:
//   lock      held (flock) by the one process that copies
//   files     a line for each file copied: SHA-256, bytes, time of change, path
//   folders   a line for each folder made: its path
//   part      the file being copied: bytes of a chunk, bytes, time of change, path; then a CRC-32
//   for each chunk complete  Copied::sha256: all files were read back and had the checksums of
//   their sources
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/staging/tree.hpp"

namespace goban::live::staging {

struct CopyOptions {
  int64_t chunk_bytes = int64_t{16} << 20;
  double bytes_per_s = 0;  ///< most; 0 = no limit
  /// Files and links that are there and that this copy did not make end it (BadData). Otherwise
  /// they are replaced.
  bool keeps_others = false;
  /// Called at least once a chunk, with the bytes copied or found there. False ends the copy, which
  /// is then Failed.
  std::function<bool(int64_t done_bytes)> go_on{};
};

struct Copied {
  int64_t bytes = 0;         ///< of the tree
  int64_t copied_bytes = 0;  ///< the rest was there
  /// Of the file; of a folder: of the lines "SHA-256, two blanks, path", by path.
  std::string sha256{};
};

/// Copies the tree to `to`, whose parent folders are made. Nothing at the source changes. A file
/// appears at its place only when it is complete. Files get the permissions of their sources, and
/// so do folders when all is copied; until then nobody else looks into these. Errors: Failed if the
/// source changed meanwhile or a checksum is not as expected; see tree.hpp.
[[nodiscard]] base::Result<Copied> copy_tree(const Tree& tree, const std::string& to,
                                             const std::string& notes, const CopyOptions& options);

/// Copied::sha256 of a copy that was completed; empty: it was not.
[[nodiscard]] std::string completed(const std::string& notes);

/// What `files` of the notes holds, by path.
struct CopiedFile {
  std::string sha256{};
  int64_t bytes = 0;
  int64_t mtime_ns = 0;
  friend bool operator==(const CopiedFile&, const CopiedFile&) = default;
};
/// Lines that cannot be read, such as the last one of a process that was killed, are left out.
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

/// Removes what was copied from the source, if copy_tree() completed it and it has not changed
/// since. What came later stays. Errors: see tree.hpp.
[[nodiscard]] base::Status remove_copied(const Tree& tree, const std::string& notes);

/// Removes a copy and its notes. Missing ones are no error. Errors: Failed.
[[nodiscard]] base::Status remove_copy(const std::string& copy, const std::string& notes);

}  // namespace goban::live::staging
