// Samples of equal size from each stratum, drawn without replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace goban::base::statistics {

/// The sample of one stratum.
struct StratumDraw {
  uint32_t stratum = 0;
  size_t population = 0;
  std::vector<size_t> chosen;  ///< indices into the input, ascending
};

/// Draws `per_stratum` members of each stratum that occurs, or all of a smaller one (then
/// chosen.size() < per_stratum). Strata are ascending. The sample of a stratum depends only on the
/// seed, its number and its members.
[[nodiscard]] std::vector<StratumDraw> stratified_sample(std::span<const uint32_t> strata,
                                                         size_t per_stratum, uint64_t seed);

}  // namespace goban::base::statistics
