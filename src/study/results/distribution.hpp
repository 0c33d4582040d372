// Cumulative distributions of several runs on one grid, for one figure.
#pragma once

#include <cstddef>
#include <vector>

namespace goban::study::results {

/// Shares of values that are at most x, at the same points x for all runs.
struct CumulativeShares {
  std::vector<float> at;                   ///< ascending, evenly spaced on a logarithmic scale
  std::vector<std::vector<float>> shares;  ///< by run; in [0, 1]
};

/// The grid goes from the minimum of all runs, but at least 1, to the maximum.
[[nodiscard]] CumulativeShares cumulative_shares(std::vector<std::vector<double>> runs,
                                                 size_t points);

}  // namespace goban::study::results
