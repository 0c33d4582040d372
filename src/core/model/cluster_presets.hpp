// Clusters known by name.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// A preset as a person sees it in a list.
struct PresetInfo {
  std::string_view name;
  std::string_view description;  ///< one line
};

/// The named presets in alphabetical order; beside them there are `NxM` (N nodes of M GPUs),
/// `NxM:MODEL`, and several of these joined by '+': "20x8:V100+24x8:P100+20x8:K80".
[[nodiscard]] std::vector<PresetInfo> preset_names();

/// The preset of that name, or sizes as above; memory and watts of a GPU model come from its data
/// sheet, of the smallest variant if the name leaves that open; 0 for an unknown name. Node names:
/// `g0001`... for abci, else `node0000`... Errors: Usage if the name is unknown (lists the known
/// ones) or N or M is out of range.
[[nodiscard]] base::Result<Cluster> make_preset(std::string_view name);

}  // namespace goban::core::model
