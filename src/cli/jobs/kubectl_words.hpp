// goban run on a site whose daemon decides for Kubernetes: kubectl starts the pod, as the image is
// the caller's choice (docs/kubernetes.md).
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/jobs/submit_payload.hpp"

namespace goban::cli {

/// Whether a daemon refused a submission because its jobs come from kubectl.
[[nodiscard]] bool is_for_kubectl(const base::Error& refusal);

/// The command that does what was asked for, with IMAGE in place of the image. `num_gpus`: of the
/// request; 0 = none.
[[nodiscard]] std::string kubectl_command(const SubmitPayload& payload, int64_t num_gpus);

/// The refusal, with that command as its remedy.
[[nodiscard]] base::Error with_kubectl(base::Error refusal, const SubmitPayload& payload,
                                       int64_t num_gpus);

}  // namespace goban::cli
