// Locality penalties derived from a job profile, where none were measured: how much longer a step
// takes if its synchronisation crosses a level of the topology.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/reports/job_profile.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::knowledge {

/// Seconds of one ring all-reduce of `bytes` among `num_gpus` GPUs whose slowest link has this
/// latency and bandwidth: 2 (n - 1) steps, each of which moves bytes / n over every link,
///     2 (n - 1) latency + 2 (n - 1) / n x bytes / bandwidth
/// (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
/// JPDC 2009; the cost model of Thakur, Rabenseifner and Gropp, IJHPCA 2005). 0 for one GPU.
[[nodiscard]] double ring_all_reduce_s(uint32_t num_gpus, double bytes, double latency_s,
                                       double bandwidth_bytes_per_s);

/// Penalty of each level of the cluster, innermost first, for a job of `num_gpus` GPUs:
///     (sync_interval_s + t(level)) / (sync_interval_s + t(innermost))
/// where t(level) is the all-reduce of bytes_per_step over the links of the level, without overlap
/// of computation and communication: an upper bound. Never decreases from a level to the next outer
/// one. Input of LocalityPenalties::set_model_levels.
/// nullopt if the profile has no bytes_per_step or sync_interval_s, or if the bandwidth of a level
/// is unknown: the caller then keeps its penalties.
[[nodiscard]] std::optional<std::vector<double>> derived_penalties(
    const base::reports::JobProfile& profile, const model::Cluster& cluster, uint32_t num_gpus);

}  // namespace goban::core::knowledge
