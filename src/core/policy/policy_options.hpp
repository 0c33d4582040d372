// The parameters of EaCO by name, as people set them: "max_slowdown=1.2".
#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

struct EacoSetting {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::span<const EacoSetting> eaco_settings();

/// Sets one from "name=value"; "live" sets kLiveSharing. Errors: Usage, naming the setting and what
/// it takes.
[[nodiscard]] base::Status set_eaco(EacoOptions& options, std::string_view assignment);

}  // namespace goban::core::policy
