// At the terminal of an interactive job: what `goban run --pty` and `goban attach` share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "live/terminal/terminal_client.hpp"

namespace goban::cli {

using live::terminal::TerminalEnd;

/// Joins standard input and output with the terminal of the job until it is over or somebody
/// leaves. `job`: what GET /v1/jobs/N said of it. Errors: Failed if it has no terminal that can be
/// reached from here.
[[nodiscard]] base::Result<TerminalEnd> visit_terminal(const nlohmann::json& job);

}  // namespace goban::cli
