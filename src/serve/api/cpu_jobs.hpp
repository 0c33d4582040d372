// CPU-only jobs on a machine without resource types. The machine's cores, each with an equal share
// of the memory, form an implicit resource type; such a job requests a number of its instances.
#pragma once

#include "core/model/cluster.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// The name of that type.
inline constexpr const char* kSlots = "cores";

/// One core and its share of the machine's memory; one instance per core.
[[nodiscard]] core::model::ResourceType core_slots(const core::model::HostResources& host);

/// Gives a job that requests no GPU and no resource type the number of slots that its cores and its
/// memory require. Does not change any other job. Errors: BadData if the machine is too small.
[[nodiscard]] base::Status fit_into_slots(live::job::JobSpec& spec,
                                          const core::model::Cluster& cluster);

}  // namespace goban::serve::api
