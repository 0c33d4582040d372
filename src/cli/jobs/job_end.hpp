// Waiting for jobs: used by the commands that end with a job.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "serve/api/api_client.hpp"

namespace goban::cli {

/// Calls `look` now and at every change, at least every `period_s` seconds, until it returns false
/// or Ctrl-C; waits for an unavailable daemon (DaemonAbsence), but not beyond `until`. Errors:
/// those of `look`, if the daemon refused it; Failed if the daemon stays unavailable.
[[nodiscard]] base::Status watch_jobs(
    const std::string& server, double period_s,
    const std::function<base::Result<bool>(serve::api::ApiClient&)>& look,
    const std::optional<std::chrono::steady_clock::time_point>& until = {});

/// The exit code of a finished job, as in a shell: 128 + the number of the signal that ended it.
[[nodiscard]] int exit_code_of(const nlohmann::json& job);

}  // namespace goban::cli
