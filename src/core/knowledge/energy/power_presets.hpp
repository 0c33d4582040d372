// Power models known by name, and the one place where an `--energy` argument is understood.
#pragma once

#include <string>
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

/// `--energy` names a file, not presets.
[[nodiscard]] bool is_power_file(const std::string& spec);

/// What `--energy` names: a preset, else a file. Several presets joined by commas, such as
/// "k80,p100,v100", are for the GPU models that begin with K80, P100 and V100. Errors: those of
/// read_power_file; a name that is neither lists the presets.
[[nodiscard]] base::Result<PowerCatalog> resolve_power(const std::string& spec);

}  // namespace goban::core::knowledge
