// Cluster presets.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// A preset as listed for users.
struct PresetInfo {
  std::string_view name;
  std::string_view description;  ///< one line
};

/// The named presets in alphabetical order. Further names are `NxM` (N nodes of M GPUs),
/// `NxM:MODEL`, and several of these joined by '+': "20x8:V100+24x8:P100+20x8:K80".
[[nodiscard]] std::vector<PresetInfo> preset_names();

/// The preset of this name, or a cluster of the given sizes. Memory and power of a GPU model are
/// those of its data sheet, of the smallest variant if the name is ambiguous; 0 for an unknown
/// model. Nodes are named `g0001`... for abci, `node0000`... otherwise. Errors: Usage if the name
/// is unknown (lists the known ones) or N or M is out of range.
[[nodiscard]] base::Result<Cluster> make_preset(std::string_view name);

}  // namespace goban::core::model
