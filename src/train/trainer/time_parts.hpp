// Where the time of a run went (base/reports/time_table): from what the run measured, its plan and
// the limits of the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "base/reports/time_table.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/planner.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/run_files.hpp"

namespace goban::train::trainer {

/// What a run measured on this rank.
struct RunTimes {
  StepStatistics steps;
  double wall_s = 0, evaluation_s = 0, checkpoint_s = 0;
  int64_t samples = 0;  ///< trained on, in the parts of all ranks
  Preparing preparing;
  std::vector<base::reports::TimeInterval> intervals{};  ///< from evaluation to evaluation
};

/// The interval from `begin_s`, when `before` was measured, to `end_s`, when `now` was.
[[nodiscard]] base::reports::TimeInterval time_interval(const RunTimes& before, const RunTimes& now,
                                                        double begin_s, double end_s, int64_t step);

/// `limits`: measured on the ranks of the run; nullopt: unknown.
[[nodiscard]] base::reports::TimeTable time_table(const RunTimes& times, const mesh::Plan& plan,
                                                  const std::optional<mesh::CostModel>& limits);

}  // namespace goban::train::trainer
