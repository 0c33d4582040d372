// The output of a job, from the daemon to a file descriptor.
#pragma once

#include <string>

#include "serve/api/api_client.hpp"

namespace goban::cli {

struct LogChoice {
  bool follow = false;
  bool standard_error = false;
  int64_t lines = 0;              ///< the last N lines; 0 = all
  std::string container{};        ///< of pods: whose output; empty: the first container's
  bool daemon_was_there = false;  ///< it answered before: wait for it if it is unavailable
};

/// Prints the output unchanged. Ctrl-C ends it. While following, it waits for an unavailable daemon
/// (DaemonAbsence). Errors: those of the client; Failed if `out` cannot be written, or the daemon
/// stays unavailable.
[[nodiscard]] base::Status print_log(serve::api::ApiClient& client, const std::string& job,
                                     const LogChoice& choice, int out);

}  // namespace goban::cli
