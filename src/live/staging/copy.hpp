// Copies a tree so that it is complete and checked, or goes on later where it stopped
// (copy_notes.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "live/staging/tree.hpp"

namespace goban::live::staging {

struct CopyOptions {
  int64_t chunk_bytes = int64_t{16} << 20;
  double bytes_per_s = 0;  ///< most; 0 = no limit
  /// Files and links that are there and that this copy did not make end it
  /// (BadData), before anything is copied if they are there at the start.
  /// Otherwise they are replaced. Copies to one folder go one after the other.
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

}  // namespace goban::live::staging
