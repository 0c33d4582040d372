// Cumulative distributions of several runs on one grid, for one picture.
#pragma once

#include <cstddef>
#include <vector>

namespace goban::study::results {

/// Shares of values that are at most x, at the same x for all runs.
struct Distribution {
  std::vector<float> at;                   ///< rising, evenly spaced on a logarithmic scale
  std::vector<std::vector<float>> shares;  ///< by run; in [0, 1]
};

/// The grid goes from the smallest value, but at least 1, to the largest of all runs.
[[nodiscard]] Distribution distribution(std::vector<std::vector<double>> runs, size_t points);

}  // namespace goban::study::results
