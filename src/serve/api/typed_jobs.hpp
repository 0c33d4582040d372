// Fields that a job leaves unset: they follow from its resource type, or from the site. On a
// machine without resource types the cores, each with an equal share of the memory, form an
// implicit type; CPU-only jobs request a number of its instances.
#pragma once

#include "core/model/cluster.hpp"
#include "live/controller/site.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// Fills in the GPUs of all instances, the cores and memory of each instance, and the walltime
/// limit from the type. Does not change jobs without a type or with a type that the site does not
/// have. Errors: BadData with the field, if a job requests more than the type has.
[[nodiscard]] base::Status fit_into_type(live::job::JobSpec& spec,
                                         const core::model::Cluster& cluster);

/// Gives a job without a walltime limit the site's default, and a job without memory and resource
/// type the site's default memory. Call it before fit_into_slots(). Errors: BadData if a job
/// requests more memory than the site allows. The controller checks the walltime limit.
[[nodiscard]] base::Status fit_into_site(live::job::JobSpec& spec,
                                         const live::controller::JobLimits& limits);

/// The name of the implicit type.
inline constexpr const char* kSlots = "cores";

/// One core and its share of the machine's memory; one instance per core.
[[nodiscard]] core::model::ResourceType core_slots(const core::model::HostResources& host);

/// Gives a job that requests no GPU and no resource type the number of slots that its cores and its
/// memory require. Does not change any other job. Errors: BadData if the machine is too small.
[[nodiscard]] base::Status fit_into_slots(live::job::JobSpec& spec,
                                          const core::model::Cluster& cluster);

}  // namespace goban::serve::api
