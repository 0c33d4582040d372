// Questions of the kind "what if": estimates from the records alone, and the changed histories with
// which `goban simulate` answers them in full.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "site/analysis/build.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/population.hpp"

namespace goban::site::analysis {

/// How a history differs from what was recorded.
enum class Scenario : uint8_t {
  AsRecorded,
  Capped,    ///< jobs beyond the cap hold whole nodes for whole days from the next midnight (UTC)
  UsedGpus,  ///< jobs ask only for the GPUs they used
};
inline constexpr int kNumScenarios = 3;
/// `as_recorded`, `capped`, `used_gpus`: the file's name without ".csv".
[[nodiscard]] std::string_view name(Scenario scenario);

/// Whether there is anything to change: UsedGpus needs values of GPUs.
[[nodiscard]] bool applies(Scenario scenario, const GpuUse* use);

/// The GPUs that a job of the population asks for in that history.
[[nodiscard]] int32_t gpus_asked(const Population& population, const GpuUse* use, size_t index,
                                 Scenario scenario);

/// Writes the jobs that hold GPUs as generic CSV, in the order of the records, in pieces; what the
/// paper's conditions leave out stays in, as it needed GPUs too.
void write_history(const Population& population, const Rules& rules, const GpuUse* use,
                   Scenario scenario, const std::function<void(std::string_view)>& sink);

/// What is known of sharing GPUs: the memory and utilisation of the jobs, alone on their GPUs, by
/// the names that AsRecorded gives them. Empty without values of GPUs or without a cluster.
[[nodiscard]] std::string colocation_csv(const Population& population, const GpuUse* use);

/// Adds a table that ends with the command which replays it.
void finish(const Context& context, Table table, const std::string& command);

/// The command that replays jobs across racks at an over-subscription of the racks' uplinks.
[[nodiscard]] std::string replay_uplinks(const Context& context, double over_subscription);

}  // namespace goban::site::analysis
