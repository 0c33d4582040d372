// The output of a job, from the daemon to a file descriptor.
#pragma once

#include <string>

#include "service/api_client.hpp"

namespace goban::cli {

struct LogChoice {
  bool follow = false;
  bool standard_error = false;
  int64_t lines = 0;  ///< the last so many; 0 = all
};

/// Byte by byte as the job wrote it. Ctrl-C ends it. Errors: those of the client; Failed if `out`
/// cannot be written.
[[nodiscard]] base::Status print_log(service::ApiClient& client, const std::string& job,
                                     const LogChoice& choice, int out);

}  // namespace goban::cli
