// Lower bounds of the mean JCT that no schedule of exclusive GPUs can beat. docs/simulate.md has
// the proofs.
#pragma once

#include <cstdint>

#include "core/knowledge/pm_scores.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::results {

/// Means over the jobs that RunMetrics counts.
struct JctBounds {
  double no_wait_s = 0;  ///< every job starts at once, on the fastest GPUs
  /// No schedule that gives a GPU to one job at a time has a lower mean: the largest of `no_wait_s`
  /// and two relaxations in which all GPUs are one machine whose speed jobs may share.
  double lower_s = 0;
};

/// `scores`: of the cluster; jobs run at most as fast as on its best GPU for their class, or at
/// score 1 if that is faster. Jobs submitted less than `warmup_ns` after the first one do not
/// count. Cost: n log n for n jobs.
[[nodiscard]] JctBounds jct_bounds(const core::model::JobHistory& history, uint32_t cluster_gpus,
                                   const core::knowledge::PmScores& scores,
                                   base::TimeNs warmup_ns = 0);

/// Share of the distance from the mean JCT `reference_s` to the bound that `jct_s` closes; 0 if
/// there is no distance. Negative if it is worse than the reference.
[[nodiscard]] double gap_closed(double jct_s, double reference_s, const JctBounds& bounds);

}  // namespace goban::study::results
