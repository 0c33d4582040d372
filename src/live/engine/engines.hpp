// The table of engines that a daemon can use.
#pragma once

#include <span>

#include "live/engine_kind.hpp"

namespace goban::live::engine {

[[nodiscard]] std::span<const EngineKind> engine_kinds();

/// Reads the key `engine` of a configuration, and the tables of all engines, each of which may
/// stand there whether it is chosen or not. Refuses an unknown engine, listing those there are.
[[nodiscard]] EngineChoice read_engine(base::TableReader& root,
                                       std::span<const EngineKind> kinds = engine_kinds());

/// EngineKind::rests_nodes of an engine; false for unknown ones, too.
[[nodiscard]] bool rests_nodes(const EngineChoice& choice);

/// EngineKind::submit_with of an engine; null for unknown ones, too.
[[nodiscard]] const char* submit_command(const EngineChoice& choice);
/// EngineKind::parts_share_nodes of an engine; false for unknown ones, too.
[[nodiscard]] bool parts_share_nodes(const EngineChoice& choice);
/// EngineKind::fences_nodes, likewise.
[[nodiscard]] bool fences_nodes(const EngineChoice& choice);
/// EngineKind::suspends_jobs, likewise.
[[nodiscard]] bool suspends_jobs(const EngineChoice& choice);

/// The engine of `setup.choice`. Errors: those of its factory. Requires that read_engine() accepted
/// its name.
[[nodiscard]] base::Result<EngineParts> make_engine(const EngineSetup& setup);

}  // namespace goban::live::engine
