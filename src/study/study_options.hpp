// The options of a study: which policies over which history, and what to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/policy/compose.hpp"
#include "study/inputs.hpp"
#include "study/lab/plugin.hpp"

namespace goban::study {

/// Empty = not given.
struct StudyOptions {
  StudyOptions();
  InputFiles files;
  std::vector<std::string> policies = {"fifo+packed", "goban"};
  std::vector<std::string> plugins{};  ///< shared libraries with further policies
  std::optional<std::string> order;
  std::optional<double> round_s;  ///< not given: that of the preset; 360 s if non-sticky
  std::optional<double> restart_cost_s;
  std::optional<double> locality_penalty;
  std::vector<std::string> sharing;  ///< settings, name=value
  std::optional<double> contention;
  std::optional<double> uplink_ratio;
  double checkpoint_interval_s = 1800;
  bool preemption_loses_work = false;
  double prediction_noise_pct = 0;
  uint64_t seed = 1;
  /// The policy that the site itself runs, to be compared with the recorded starts; "" = the first
  /// one.
  std::optional<std::string> backtest;
  bool start_forecasts = false;  ///< judge forecasts of start times (StartObserver)
  base::TimeNs warmup_ns = 0;
  size_t seeds = 10;  ///< with prices: resamples of the history's days, for intervals
  std::vector<std::string> arguments;  ///< those that affect decisions: see RunRecord
  std::string out;                     ///< folder of each run's files
  std::string html;                    ///< file of the report
  size_t threads = 1;
  bool decisions = false;  ///< write decisions.jsonl
};

/// Inserts the policy that `backtest` names before the others if it is not among them.
void add_site_policy(StudyOptions& options);

/// The libraries of the options. Errors: those of lab::Plugin::load(); Usage if two have a policy
/// of the same name, or one has the name of a policy of goban.
[[nodiscard]] base::Result<std::vector<lab::Plugin>> load_plugins(const StudyOptions& options);
/// Null if none has a policy of this name.
[[nodiscard]] const lab::PluginPolicy* find_policy(const std::vector<lab::Plugin>& plugins,
                                                   const std::string& name);

/// The policies by name, with the settings that the options override; of policies of plugins the
/// parts that they name. Errors: Usage; those of load_plugins().
[[nodiscard]] base::Result<std::vector<core::policy::Composition>> compositions(
    const StudyOptions& options);

}  // namespace goban::study
