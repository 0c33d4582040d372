// Profile files: measured runs of one benchmark on many GPUs, the input of PM scores (PAL: PM
// scores, docs/papers.md). One row per run: `uuid` is the GPU, `perf` its time, lower is better.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::core::knowledge {

/// The runs of one profile, by GPU in order of first appearance.
struct ProfileRuns {
  std::vector<std::string> uuids;
  /// [gpu][run]: time / median time over all rows; at least one run per GPU.
  std::vector<std::vector<double>> runs;
  double median_perf = 0;  ///< in the unit of the file
  [[nodiscard]] size_t num_gpus() const { return uuids.size(); }
};

/// Reads the columns `uuid` and `perf`; others are ignored. Errors (BadData): no rows, a row
/// without uuid, a time that is not above 0 or differs from the median by a factor of a million.
[[nodiscard]] base::Result<ProfileRuns> parse_profile_runs(std::string_view text,
                                                           const std::string& file);
/// Score of each GPU as PAL defines it: the median over its runs.
[[nodiscard]] std::vector<double> median_scores(const ProfileRuns& profile);

}  // namespace goban::core::knowledge
