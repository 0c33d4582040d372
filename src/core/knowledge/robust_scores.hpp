// PM scores that are robust to single slow or false runs: our default instead of one drawn run,
// which turns a transient slowdown into a permanent straggler (docs/studies/pal-gain.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/knowledge/profile_runs.hpp"

namespace goban::core::knowledge {

/// Score of one GPU and its basis.
struct RobustScore {
  double score = 1;
  uint32_t runs = 0;      ///< measured
  uint32_t rejected = 0;  ///< runs excluded as outliers
  bool clamped = false;   ///< limited to the range of the fleet, because there are too few runs
  /// Standard error of the score; unset if no GPU of the profile has enough runs to estimate their
  /// standard deviation.
  std::optional<double> std_error;
};

/// The estimator, with sigma = 1.4826 MAD (the median absolute deviation, scaled to a normal sd):
/// 1. With 3 or more runs, those more than 3.5 sigma from the GPU's median are rejected (Iglewicz
/// and
///    Hoaglin 1993); sigma is at least the fleet's typical one, and 0.1 % of the median.
/// 2. score = median of the remaining runs; std_error = 1.2533 sigma / sqrt(their number).
/// 3. With fewer than 3 runs, the score is clamped to the fleet's median score +- 3 sigma (of the
///    scores between GPUs, at least 1 %), so that extremes have to be measured again.
[[nodiscard]] std::vector<RobustScore> robust_scores(const ProfileRuns& profile);

}  // namespace goban::core::knowledge
