// Power models known by name.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// A preset as a person sees it in a list; `basis` says what is measured in it and what assumed.
struct PowerPresetInfo {
  std::string_view name;
  std::string_view basis;
};

/// In alphabetical order: nodes of 8 GPUs.
[[nodiscard]] std::vector<PowerPresetInfo> power_preset_names();

/// The preset of that name; it is for any GPU model. Errors: Usage, listing the known ones.
[[nodiscard]] base::Result<PowerCatalog> make_power_preset(std::string_view name);

/// One preset, or several joined by commas, such as "k80,p100,v100": these are for the GPU models
/// that begin with K80, P100 and V100. Errors: Usage, listing the known ones.
[[nodiscard]] base::Result<PowerCatalog> make_power_presets(std::string_view names);

}  // namespace goban::core::knowledge
