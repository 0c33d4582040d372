// Clusters known by name.
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

}  // namespace goban::model
