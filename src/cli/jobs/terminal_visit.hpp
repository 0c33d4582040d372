// The terminal of an interactive job, for `goban run --pty` and `goban attach`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "live/terminal/terminal_client.hpp"

namespace goban::cli {

using live::terminal::TerminalEnd;

/// Connects standard input and output to the terminal of the job until the job finishes or the user
/// detaches. `job`: the response of GET /v1/jobs/N. Errors: Failed if it has no terminal that can
/// be reached from this machine.
[[nodiscard]] base::Result<TerminalEnd> visit_terminal(const nlohmann::json& job);

}  // namespace goban::cli
