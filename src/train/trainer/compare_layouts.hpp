// Comparison of the planner's predictions with measurements: some steps under each of its best
// layouts.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/planner.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

struct ComparedLayout {
  mesh::LayoutChoice choice;
  double measured_s = 0;  ///< median of some steps, on rank 0
};

struct Comparison {
  mesh::CostModel costs;
  size_t legal = 0;                     ///< layouts that are legal and fit
  std::vector<ComparedLayout> layouts;  ///< best prediction first
  bool stopped = false;                 ///< by a signal to any rank; the list is incomplete
};

/// Prices all legal layouts as `--layout auto` does, and trains some steps on zeros under each of
/// the best `most`. Collective. Errors: Usage, if the options specify a layout, or if none fits;
/// those of training.
[[nodiscard]] base::Result<Comparison> compare_layouts(const TrainOptions& options, int64_t most,
                                                       comm::Communicator& end);

/// A text table of at least one layout, and the ratio of the planner's choice to the fastest.
[[nodiscard]] std::string comparison_text(const Comparison& comparison);

}  // namespace goban::train::trainer
