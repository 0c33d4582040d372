// The nodes and the GPU model that a job requests: whether the cluster has them.
#pragma once

#include <string_view>

#include "live/controller/site.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// Whether a model of this name is meant: the words of `asked` are words of `name`, in this order
/// and in any case. "a100" means "NVIDIA A100-SXM4-80GB", "a10" does not.
[[nodiscard]] bool means_model(std::string_view asked, std::string_view name);

/// Checks the nodes and the GPU model that a job requests. Today's engine has one node, so a job
/// that passes runs where it wants to; on a cluster of which only a part is meant it is refused.
/// Errors: BadData with the field and the known names.
[[nodiscard]] base::Status check_node_choice(const job::JobSpec& spec, const Site& site);

}  // namespace goban::live::controller
