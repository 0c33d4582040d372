// Power model presets.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// A preset as listed for users; `basis` states what is measured and what is assumed.
struct PowerPresetInfo {
  std::string_view name;
  std::string_view basis;
};

/// In alphabetical order: nodes of 8 GPUs.
[[nodiscard]] std::vector<PowerPresetInfo> power_preset_names();

/// The preset of this name, for any GPU model. Errors: Usage, listing the known ones.
[[nodiscard]] base::Result<PowerCatalog> make_power_preset(std::string_view name);

/// One preset, or several separated by commas: "k80,p100,v100" are for GPU models that begin with
/// K80, P100 and V100. Errors: Usage, listing the known ones.
[[nodiscard]] base::Result<PowerCatalog> make_power_presets(std::string_view names);

}  // namespace goban::core::knowledge
