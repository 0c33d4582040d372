// Power models as TOML files. A file reads like this; every key is shown, * marks the required
// ones:
//
//   [[node]]                     # * a kind of node
//   name = "v100-8"              # *
//   gpu_model = "V100"           # for GPU models of the cluster whose names begin so; any if left
//                                # out; the longest one counts
//   gpus = 8                     # * of the node the watts belong to
//   host_idle_w = 120            # * the node without its GPUs
//   gpu_idle_w = 30              # * one GPU without a process on it
//   gpu_context_w = 36           # with a process that computes nothing; gpu_idle_w if left out
//   gpu_max_w = 300              # * limit of the board
//   gpu_dynamic_w = 201.25       # * above idle at 100 % utilisation, with its part of the host's;
//                                # at U %: gpu_dynamic_w * (U / 100)^exponent
//   exponent = 0.48              # 1 (a straight line) if left out
//   gpu_share_base_w = 73        # base of the sum over jobs that share a GPU; gpu_idle_w if left
//   out
//
//   [[node.state]]               # where a node rests; without them it always idles
//   name = "sleep"               # * sleep or off
//   power_w = 25                 # *
//   enter = "10s"                # time and energy to get there from idle
//   enter_j = 3600
//   wake = "30s"                 # and back
//   wake_j = 10800
//
//   [[node.power_cap]]           # what a limit of a GPU's power does to a job, against none
//   cap_w = 200                  # *
//   energy_factor = 0.9          # * of the GPU's energy
//   time_factor = 1.037          # *
//
// An unknown key is refused, so that no typing error passes for a default.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/energy/power_model.hpp"

namespace goban::core::knowledge {

/// Reads a text; `file` stands for it in messages. Errors: BadData with line, column, field and
/// remedy: a missing watt is never taken for zero.
[[nodiscard]] base::Result<PowerCatalog> parse_power(std::string_view toml,
                                                     const std::string& file);

/// The catalog as such a file; parse_power reads it back equal.
[[nodiscard]] std::string to_toml(const PowerCatalog& catalog);

}  // namespace goban::core::knowledge
