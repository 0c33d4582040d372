// Power models as TOML files. All keys; * marks those that are required:
//
//   [[node]]                     # * a kind of node
//   name = "v100-8"              # *
//   gpu_model = "V100"           # prefix of the cluster's GPU models that this node is for; the
//                                # longest match applies; default: any
//   gpus = 8                     # * GPUs of the measured node
//   host_idle_w = 120            # * the node without its GPUs
//   gpu_idle_w = 30              # * one GPU without a process
//   gpu_context_w = 36           # with a process that computes nothing; default gpu_idle_w
//   gpu_max_w = 300              # * limit of the board
//   gpu_dynamic_w = 201.25       # * above idle at 100 % utilisation, including its part of the
//                                # host's; at U %: gpu_dynamic_w * (U / 100)^exponent
//   exponent = 0.48              # default 1 (linear)
//   gpu_share_base_w = 73        # base of the sum over jobs that share a GPU; default gpu_idle_w
//
//   [[node.state]]               # low-power states; without them nodes never sleep
//   name = "sleep"               # * sleep or off
//   power_w = 25                 # *
//   enter = "10s"                # time and energy of the transition from idle
//   enter_j = 3600
//   wake = "30s"                 # and of the transition back
//   wake_j = 10800
//
//   [[node.power_cap]]           # effect of a GPU power limit on a job, relative to no limit
//   cap_w = 200                  # *
//   energy_factor = 0.9          # * of the GPU's energy
//   time_factor = 1.037          # *
//
// Unknown keys are rejected, so that a typing error never becomes a default.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// Parses such a file; `file` is its name in messages. Missing power values are errors, never zero.
/// Errors: BadData with line, column, field and remedy.
[[nodiscard]] base::Result<PowerCatalog> parse_power(std::string_view toml,
                                                     const std::string& file);

/// The catalog in this format; parse_power returns an equal catalog.
[[nodiscard]] std::string to_toml(const PowerCatalog& catalog);

}  // namespace goban::core::knowledge
