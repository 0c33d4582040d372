// The output of a job, from the daemon to a file descriptor.
#pragma once

#include <string>

#include "serve/api/api_client.hpp"

namespace goban::cli {

struct LogChoice {
  bool follow = false;
  bool standard_error = false;
  int64_t lines = 0;              ///< the last so many; 0 = all
  bool daemon_was_there = false;  ///< it answered before: to follow, wait for one that is away
};

/// Byte by byte as the job wrote it. Ctrl-C ends it. While it follows, a daemon that goes away is
/// waited for (DaemonAbsence). Errors: those of the client; Failed if `out` cannot be written, or
/// the daemon stays away.
[[nodiscard]] base::Status print_log(serve::api::ApiClient& client, const std::string& job,
                                     const LogChoice& choice, int out);

}  // namespace goban::cli
