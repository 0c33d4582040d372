// Simulated pilots: how often the comparison finds a gain where there is none, and where there is
// one. Serves `goban pilot simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "core/pilot/comparison.hpp"
#include "study/runs.hpp"

namespace goban::study {

/// One simulated pilot.
struct PilotTrial {
  core::pilot::Comparison comparison{};
  bool fell_back = false;  ///< a stop rule was broken
};

/// How a number of pilots ended.
struct PilotTally {
  size_t pilots = 0;
  size_t gains = 0;
  size_t losses = 0;
  size_t no_gains = 0;
  size_t not_enough = 0;
  size_t fell_back = 0;   ///< of them all, by a stop rule
  double gain_upper = 1;  ///< upper 95 % bound of the rate of gains
  /// Median of the measured wait of B / that of A; nullopt: no pilot has one.
  std::optional<double> ratio{};
};
[[nodiscard]] PilotTally tally(const std::vector<PilotTrial>& trials);

struct PilotTrials {
  PilotTally without_effect;  ///< policy A runs in all periods
  PilotTally with_effect;     ///< policy B runs in its periods
};

/// What a pilot shows that begins at `start_ns` in this run. A stop rule is looked at whenever a
/// job ends; then there is no verdict. Jobs count as they stand at the planned end.
[[nodiscard]] PilotTrial judge_run(const core::pilot::Plan& plan, base::TimeNs start_ns,
                                   const core::model::JobHistory& history,
                                   const simulator::SimulationResult& run);

/// Simulates `count` pilots of each kind, each on days of the history drawn with replacement, and
/// with an order of periods of its own. Pilots begin a day after the first submission. Errors:
/// BadData if the history is too short for the plan; those of simulate().
[[nodiscard]] base::Result<PilotTrials> try_pilots(const core::pilot::Plan& plan,
                                                   const StudyOptions& options,
                                                   const Inputs& inputs, size_t count,
                                                   base::Progress& progress);

}  // namespace goban::study
