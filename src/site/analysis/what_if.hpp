// What-if analyses: estimates from the records alone, and the modified histories for a full
// simulation by `goban simulate`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "site/analysis/build.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/population.hpp"

namespace goban::site::analysis {

/// How a history differs from the records.
enum class Scenario : uint8_t {
  AsRecorded,
  Capped,    ///< jobs beyond the cap hold whole nodes for whole days from the next midnight (UTC)
  UsedGpus,  ///< jobs request only the GPUs that they used
};
inline constexpr int kNumScenarios = 3;
/// `as_recorded`, `capped`, `used_gpus`: the file's name without ".csv".
[[nodiscard]] std::string_view name(Scenario scenario);

/// Whether the scenario can be applied: UsedGpus requires GPU values.
[[nodiscard]] bool applies(Scenario scenario, const GpuUse* use);

/// The number of GPUs that a job of the population requests in that history.
[[nodiscard]] int32_t gpus_asked(const Population& population, const GpuUse* use, size_t index,
                                 Scenario scenario);

/// Writes the jobs that hold GPUs as generic CSV, in the order of the records, in pieces. Jobs that
/// the paper's conditions exclude are included, because they occupied GPUs, too.
void write_history(const Population& population, const Rules& rules, const GpuUse* use,
                   Scenario scenario, const std::function<void(std::string_view)>& sink);

/// A co-location file: memory and utilisation of the jobs alone on their GPUs, by the model names
/// that AsRecorded gives them. Empty without GPU values or without a cluster.
[[nodiscard]] std::string colocation_csv(const Population& population, const GpuUse* use);

/// Adds a table whose text ends with the command that replays it, or says that it needs racks.
void finish(const Context& context, Table table, const std::string& command);

/// The command that replays the history with contention at this over-subscription of the racks'
/// uplinks; empty if the cluster has no racks: no such simulation is possible.
[[nodiscard]] std::string replay_uplinks(const Context& context, double over_subscription);

}  // namespace goban::site::analysis
