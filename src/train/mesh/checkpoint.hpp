// Checkpoints that know no layout: whole variables in one file, written atomically.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "train/mesh/variables.hpp"

namespace goban::train::mesh {

/// Where a run stands, beside its variables: counters and settings as text.
using Bookmark = std::map<std::string, std::string>;

/// Gathers all variables; rank 0 writes `path` beside itself and renames it when it is complete
/// and on disk, so that `path` is always the old or the new one. Collective.
/// Errors (on all ranks): Failed, if the file cannot be written.
[[nodiscard]] base::Status save_checkpoint(const std::string& path, Variables& variables,
                                           const Bookmark& bookmark);

/// Every rank reads the file and takes its slices. All variables of the graph must be there with
/// their shape and (master) type. Nothing, if no rank finds a file there. Collective: the ranks
/// compare what they read. Errors (on all ranks; nothing is changed then): Failed, if the file
/// cannot be read; BadData for a damaged or another model's file, and for ranks that find different
/// files, or of which some find none.
[[nodiscard]] base::Result<std::optional<Bookmark>> resume_checkpoint(const std::string& path,
                                                                      Variables& variables);

}  // namespace goban::train::mesh
