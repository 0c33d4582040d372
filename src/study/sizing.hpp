// The size of a cluster of its own for one organisation: its history replayed on clusters of more
// and more nodes until its jobs wait no longer than wanted.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "site/analysis/build.hpp"

namespace goban::study {

struct SizingTarget {
  double wait_h = 1;
  double share = 0.9;  ///< of the jobs, that wait no longer
};

/// Adds the table `sizing` and its scalars to the report of the context. The simulator runs FIFO
/// with skipping, packed: later jobs may pass one that does not fit. Errors: those of simulate();
/// Failed if cancelled.
[[nodiscard]] base::Status add_sizing(const site::analysis::Context& context,
                                      const SizingTarget& target, const base::Progress& progress);

}  // namespace goban::study
