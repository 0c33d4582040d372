// Jobs without GPUs on a machine that sells no resource types: the machine's cores, each with its
// part of the memory, are a resource type of their own, and such a job asks for so many of them.
#pragma once

#include "core/model/cluster.hpp"
#include "live/job/job_spec.hpp"

namespace goban::serve::api {

/// The name of that type.
inline constexpr const char* kSlots = "cores";

/// One core and its share of the machine's memory; as many instances as there are cores.
[[nodiscard]] core::model::ResourceType core_slots(const core::model::HostResources& host);

/// Puts a job that asks for no GPU and for no resource type into as many slots as its cores and its
/// memory need; leaves every other job alone. Errors: BadData if the machine is too small.
[[nodiscard]] base::Status fit_into_slots(live::job::JobSpec& spec,
                                          const core::model::Cluster& cluster);

}  // namespace goban::serve::api
