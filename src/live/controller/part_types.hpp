// Jobs of an engine's own queue consist of equal parts, each of some GPUs of one node. With some
// engines each part is on a node of its own (Slurm), with others not (Kubernetes). Each number of
// GPUs is a resource type of the cluster (clusters.cpp).
#pragma once

#include <string>
#include <string_view>

#include "core/model/cluster.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

[[nodiscard]] std::string part_type_name(int32_t gpus);
/// The GPUs of the kind with this name; 0 if it is none.
[[nodiscard]] int32_t gpus_of_part(std::string_view name);
/// The kind of a job's parts; invalid if the cluster does not have it.
[[nodiscard]] core::model::ResourceTypeId part_type_of(const job::JobSpec& spec,
                                                       const core::model::Cluster& cluster);
/// `share_nodes`: parts may lie on one node. Errors: Failed with the reason for which the cluster
/// cannot run the job, or for which parts could come to the same node that must not.
[[nodiscard]] base::Status check_parts(const job::JobSpec& spec,
                                       const core::model::Cluster& cluster, bool share_nodes);

}  // namespace goban::live::controller
