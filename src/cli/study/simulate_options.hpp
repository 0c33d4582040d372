// The command line of `goban simulate`: its options, and the policies they name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/shell/options.hpp"
#include "cli/study/simulate_inputs.hpp"
#include "core/policy/compose.hpp"

namespace goban::cli {

/// Everything `goban simulate` was told. Empty = not given.
struct SimulateOptions {
  SimulateOptions();
  SimulateFiles files;
  std::vector<std::string> policies = {"fifo+packed", "goban"};
  std::optional<std::string> order;
  std::optional<double> round_s;
  std::optional<double> restart_cost_s;
  std::optional<double> locality_penalty;
  std::vector<std::string> sharing;  ///< settings, name=value
  std::optional<double> contention;
  std::optional<double> uplink_ratio;
  double checkpoint_interval_s = 1800;
  double prediction_noise_pct = 0;
  uint64_t seed = 1;
  /// The policy the site itself runs, to be compared with its record; "" = the first one.
  std::optional<std::string> backtest;
  base::TimeNs warmup_ns = 0;
  std::vector<std::string> arguments;  ///< the command line, without what only goes to outputs
  std::string out;
  std::string html;
  size_t threads = 1;
  bool json = false;
  bool decisions = false;
};

/// Declares all options on `command`; parsing fills `options`, which outlives it.
void add_simulate_options(Command& command, SimulateOptions& options);

/// The policies by name, with the settings that the options replace. Errors: Usage.
[[nodiscard]] base::Result<std::vector<core::policy::Composition>> compositions(
    const SimulateOptions& options);

}  // namespace goban::cli
