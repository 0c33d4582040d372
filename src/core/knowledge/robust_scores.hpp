// PM scores that one unlucky or dishonest run cannot turn: our default instead of a single drawn
// run, which makes a transient slowdown a permanent straggler (PAL, spec 10).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/knowledge/profile_runs.hpp"

namespace goban::core::knowledge {

/// Score of one GPU with what it rests on.
struct RobustScore {
  double score = 1;
  uint32_t runs = 0;      ///< measured
  uint32_t rejected = 0;  ///< of them, too far from the others to count
  bool clamped = false;   ///< pulled back to the fleet's fence for want of confirming runs
  /// Standard error of the score; nothing if no GPU of the profile was measured often enough to
  /// tell how much runs scatter.
  std::optional<double> std_error;
};

/// The estimator, with sigma = 1.4826 MAD (the median absolute deviation, scaled to a normal sd):
/// 1. From 3 runs on, those more than 3.5 sigma from the GPU's median are rejected (Iglewicz and
///    Hoaglin 1993), sigma being at least the fleet's typical one, and 0.1 % of the median.
/// 2. score = median of the rest; std_error = 1.2533 sigma / sqrt(number of the rest).
/// 3. Fewer than 3 runs confirm nothing: the score is clamped to the fleet's median score +- 3
/// sigma
///    (of the scores between GPUs, at least 1 %), so that extremes have to be measured again.
[[nodiscard]] std::vector<RobustScore> robust_scores(const ProfileRuns& profile);

}  // namespace goban::core::knowledge
