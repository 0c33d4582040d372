// Jobs that ask for a resource type of the site: what they do not say follows from the type.
#pragma once

#include "core/model/cluster.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// Fills in the GPUs of all instances, cores and memory of each, and the walltime limit, from the
/// type. Leaves jobs alone that name no type, or one that the site does not have. Errors: BadData
/// with the field, if a job asks for more than the type has.
[[nodiscard]] base::Status fit_into_type(live::job::JobSpec& spec,
                                         const core::model::Cluster& cluster);

}  // namespace goban::serve::api
