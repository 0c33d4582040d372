// The table of engines that a daemon can use.
#pragma once

#include <span>
#include <string_view>

#include "live/engine_kind.hpp"

namespace goban::live::engine {

[[nodiscard]] std::span<const EngineKind> engine_kinds();

/// Errors: Usage listing the engines if the name is unknown; those of the engine's factory.
[[nodiscard]] base::Result<EngineParts> make_engine(std::string_view name,
                                                    const EngineSetup& setup);

}  // namespace goban::live::engine
