// Checkpoints that know no layout: whole variables in one file, written atomically.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "mesh/variables.hpp"

namespace goban::mesh {

/// Where a run stands, beside its variables: counters and settings as text.
using Bookmark = std::map<std::string, std::string>;

/// Gathers all variables; rank 0 writes `path` beside itself and renames it when it is complete
/// and on disk, so that `path` is always the old or the new one. Collective.
/// Errors (on all ranks): Failed, if the file cannot be written.
[[nodiscard]] base::Status save_checkpoint(const std::string& path, Variables& variables,
                                           const Bookmark& bookmark);

/// Every rank reads the file and takes its slices. All variables of the graph must be there with
/// their shape and (master) type. Errors: Failed, BadData for a damaged or another model's file;
/// nothing is changed then.
[[nodiscard]] base::Result<Bookmark> load_checkpoint(const std::string& path, Variables& variables);

}  // namespace goban::mesh
