// Jobs without GPUs on a machine that sells no resource types: the machine's cores, each with its
// part of the memory, are a resource type of their own, and such a job asks for so many of them.
#pragma once

#include "live/job/job_spec.hpp"
#include "model/cluster.hpp"

namespace goban::service {

/// The name of that type.
inline constexpr const char* kSlots = "cores";

/// One core and its share of the machine's memory; as many instances as there are cores.
[[nodiscard]] model::ResourceType core_slots(const model::HostResources& host);

/// Puts a job that asks for no GPU and for no resource type into as many slots as its cores and its
/// memory need; leaves every other job alone. Errors: BadData if the machine is too small.
[[nodiscard]] base::Status fit_into_slots(live::JobSpec& spec, const model::Cluster& cluster);

}  // namespace goban::service
