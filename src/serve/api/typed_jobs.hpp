// Jobs that request a resource type of the site: fields that they leave unset follow from the type.
#pragma once

#include "core/model/cluster.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// Fills in the GPUs of all instances, the cores and memory of each instance, and the walltime
/// limit from the type. Does not change jobs without a type or with a type that the site does not
/// have. Errors: BadData with the field, if a job requests more than the type has.
[[nodiscard]] base::Status fit_into_type(live::job::JobSpec& spec,
                                         const core::model::Cluster& cluster);

}  // namespace goban::serve::api
