// The size of a dedicated cluster for one organisation: its history is replayed on clusters of
// different sizes to find the smallest that meets a wait-time target.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/analysis/build.hpp"

namespace goban::study {

struct SizingTarget {
  double wait_h = 1;
  double share = 0.9;  ///< share of the jobs that may wait at most `wait_h`
};

/// Adds the table `sizing` and its scalars to the report of the context. The simulator runs FIFO
/// with skipping, packed: later jobs may pass one that does not fit. Errors: those of simulate();
/// Failed if cancelled.
[[nodiscard]] base::Status add_sizing(const site::analysis::Context& context,
                                      const SizingTarget& target, const base::Progress& progress);

}  // namespace goban::study
