// Checkpoints independent of the layout: complete variables in one file, written atomically.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "train/mesh/variables.hpp"

namespace goban::train::mesh {

/// The position and settings of a run, as text; stored with its variables.
using Bookmark = std::map<std::string, std::string>;

/// Gathers all variables. Rank 0 writes a temporary file next to `path`, syncs it and renames it,
/// so `path` is always the complete old or new file. Collective. Errors (on all ranks): Failed, if
/// the file cannot be written.
[[nodiscard]] base::Status save_checkpoint(const std::string& path, Variables& variables,
                                           const Bookmark& bookmark);

/// Every rank reads the file and takes its slices. The file must contain all variables of the graph
/// with their shapes and checkpoint types. Returns nullopt if no rank finds a file. Collective: the
/// ranks compare what they read. Errors (on all ranks; variables are then unchanged): Failed, if
/// the file cannot be read; BadData, for a damaged file, a file of another model, ranks that find
/// different files, or a file that only some ranks find.
[[nodiscard]] base::Result<std::optional<Bookmark>> resume_checkpoint(const std::string& path,
                                                                      Variables& variables);

}  // namespace goban::train::mesh
