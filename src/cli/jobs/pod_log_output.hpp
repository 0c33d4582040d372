// goban logs of a job that runs as pods: the command asks the API server itself, as its caller.
#pragma once

#include <string>

#include "cli/jobs/log_output.hpp"

namespace goban::cli {

/// Prints the output of the job's pods. `refusal`: what the daemon answered when it was asked for
/// the output; returned where the job does not run as pods. Errors: also Failed if the caller has
/// no access to the cluster, or not the right.
[[nodiscard]] base::Status print_pod_log(serve::api::ApiClient& client, const std::string& job,
                                         const LogChoice& choice, const base::Error& refusal,
                                         int out);

}  // namespace goban::cli
