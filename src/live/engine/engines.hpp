// The engines that a daemon can run jobs with: a table row each.
#pragma once

#include <span>
#include <string_view>

#include "live/engine_kind.hpp"

namespace goban::live::engine {

[[nodiscard]] std::span<const EngineKind> engine_kinds();

/// Errors: Usage naming the engines, if there is none of this name; those of making it.
[[nodiscard]] base::Result<EngineParts> make_engine(std::string_view name,
                                                    const EngineSetup& setup);

}  // namespace goban::live::engine
