// From the samples of one GPU in one job to its statistics, with the trimmed maximum of the ABCI
// paper: "the largest sample lying in [mu - 2 sigma, mu + 2 sigma]".
//
// With one busy sample among five (a 300-s job, one sample per minute) mu + 2 sigma equals that
// sample for the population's sigma: 20 + 2 * 40 = 100. So the interval is closed, and a tolerance
// makes the result independent of rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/statistics/summary.hpp"
#include "site/series/codes.hpp"

namespace goban::site::series {

struct TrimRule {
  base::statistics::SigmaRule sigma = base::statistics::SigmaRule::Population;
  double sigmas = 2;  ///< half width of the interval
  /// A sample x is inside if |x - mu| <= sigmas * sigma + tolerance * max(1, |x|, |mu|).
  double tolerance = 1e-9;
};

struct Reduction {
  uint64_t count = 0;
  double mean = 0;
  double sd = 0;  ///< with the sigma of the rule
  double min = 0;
  double max = 0;          ///< raw
  double trimmed_max = 0;  ///< at least one sample is inside, so it always exists
};

/// None for no samples.
[[nodiscard]] std::optional<Reduction> reduce(std::span<const double> values,
                                              const TrimRule& rule = {});
/// The same from counts of codes, in exact integers until the last division.
[[nodiscard]] std::optional<Reduction> reduce(const CodeCounts& counts, double quantum,
                                              const TrimRule& rule = {});

}  // namespace goban::site::series
