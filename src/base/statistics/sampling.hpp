// Equally many from each stratum, drawn without replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goban::base::statistics {

/// What was drawn of one stratum.
struct StratumDraw {
  uint32_t stratum = 0;
  size_t population = 0;
  std::vector<size_t> chosen;  ///< indices into the input, rising
};

/// Draws `per_stratum` members of each stratum that occurs, or all of a smaller one (seen by
/// chosen.size() < per_stratum). Strata rise. A stratum's draw depends on the seed, its number and
/// its members alone.
[[nodiscard]] std::vector<StratumDraw> stratified_sample(std::span<const uint32_t> strata,
                                                         size_t per_stratum, uint64_t seed);

}  // namespace goban::base::statistics
