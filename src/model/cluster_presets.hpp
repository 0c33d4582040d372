// Clusters known by name, and the one place where a `--cluster` argument is understood.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/cluster.hpp"

namespace goban::model {

/// A preset as a person sees it in a list.
struct PresetInfo {
  std::string_view name;
  std::string_view description;  ///< one line
};

/// The named presets in alphabetical order; `NxM` (N nodes of M GPUs) exists beside them.
[[nodiscard]] std::vector<PresetInfo> preset_names();

/// The preset of that name, or `NxM`. Node names: `g0001`... for abci, else `node0000`...
/// Errors: Usage if the name is unknown (lists the known ones) or N or M is out of range.
[[nodiscard]] base::Result<Cluster> make_preset(std::string_view name);

/// `--cluster` names a file, not a preset.
[[nodiscard]] bool is_cluster_file(const std::string& spec);

/// What `--cluster` names: a file if it exists or ends with .toml, else a preset or NxM.
/// Errors: those of read_cluster_file and make_preset.
[[nodiscard]] base::Result<Cluster> resolve_cluster(const std::string& spec);

}  // namespace goban::model
