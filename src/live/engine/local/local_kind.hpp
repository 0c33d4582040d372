// The local engine's row in the table of engines.
#pragma once

#include "live/engine_kind.hpp"

namespace goban::live::engine::local {

[[nodiscard]] base::Result<EngineParts> make_local(const EngineSetup& setup);
/// `goban supervise FOLDER`. Errors: Usage if the path is not absolute.
[[nodiscard]] base::Result<int> supervise_folder(const std::string& folder);

inline constexpr EngineKind kLocalKind = {
    .name = "local",
    .make = make_local,
    .helper = {.command = "supervise",
               .words = "Run the job of a run folder; started by the daemon, not by users",
               .argument = "folder",
               .argument_words = "Run folder, as an absolute path",
               .run = supervise_folder}};

}  // namespace goban::live::engine::local
