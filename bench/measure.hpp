// Measures a function in a separate process: CPU time and peak memory.
#pragma once

#include <functional>

namespace goban::bench {

struct Cost {
  double cpu_s = 0;  ///< user + system
  double wall_s = 0;
  double peak_mib = 0;
};

/// Forks, runs `work` in the child and returns its cost. Exits if the child fails.
[[nodiscard]] Cost measure_in_child(const std::function<void()>& work);

/// The run with the median CPU time of `runs` runs.
[[nodiscard]] Cost median_of(int runs, const std::function<void()>& work);

}  // namespace goban::bench
