// Whether a site can stage what a job asks for.
#pragma once

#include "base/result.hpp"
#include "live/controller/site.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// The job has data to copy before it starts, or results to copy after it.
[[nodiscard]] inline bool stages(const job::JobSpec& spec) {
  return !spec.stage_in.empty() || !spec.stage_out.empty();
}

/// Errors: BadData naming the field, if the site cannot stage what the job asks
/// for.
[[nodiscard]] base::Status check_staging(const job::JobSpec& spec, const Site& site);

}  // namespace goban::live::controller
