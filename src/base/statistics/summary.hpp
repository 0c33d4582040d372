// Mean, standard deviation and quantiles of a sample.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goban::base::statistics {

/// Divisor of the sum of squared deviations.
enum class SigmaRule {
  Population,  ///< n
  Sample,      ///< n - 1; the deviation of a single value is 0
};

/// Rule for quantiles between two values of the sample.
enum class QuantileRule {
  Linear,       ///< Hyndman and Fan's type 7: linear between order statistics (NumPy, R)
  NearestRank,  ///< type 1: the smallest value with at least that share at or below it
};

/// Sum in the order given, with Neumaier's compensation.
[[nodiscard]] double sum(std::span<const double> values);
/// nullopt for an empty sample.
[[nodiscard]] std::optional<double> mean(std::span<const double> values);
/// Two passes; nullopt for an empty sample.
[[nodiscard]] std::optional<double> standard_deviation(std::span<const double> values,
                                                       SigmaRule rule);

/// Quantile of ascending values; share in [0, 1]. nullopt for an empty sample.
[[nodiscard]] std::optional<double> quantile(std::span<const double> sorted, double share,
                                             QuantileRule rule = QuantileRule::Linear);

/// A row of a table such as Table 2 of the ABCI paper (docs/papers.md).
struct Summary {
  size_t count = 0;
  double mean = 0;
  double sd = 0;
  double median = 0;
  double min = 0;
  double max = 0;
};

/// nullopt for an empty sample.
[[nodiscard]] std::optional<Summary> summarize(std::vector<double> values,
                                               SigmaRule rule = SigmaRule::Population);

}  // namespace goban::base::statistics
