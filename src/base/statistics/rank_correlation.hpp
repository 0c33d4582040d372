// Spearman's rank correlation with mid-ranks for ties, and a bootstrap interval for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace goban::base::statistics {

/// Ranks from 1; equal values get the mean of their ranks.
[[nodiscard]] std::vector<double> mid_ranks(std::span<const double> values);

/// nullopt for fewer than two pairs, or if one side is constant.
[[nodiscard]] std::optional<double> pearson(std::span<const double> x, std::span<const double> y);
/// Pearson's correlation of the mid-ranks; nullopt as for pearson().
[[nodiscard]] std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

struct BootstrapOptions {
  size_t replicates = 2000;
  double level = 0.95;  ///< share of the replicates inside the interval
  uint64_t seed = 1;
  /// Stratum of each pair, to resample pairs within their stratum (required for a stratified
  /// sample); empty: all pairs are one stratum.
  std::vector<uint32_t> strata;
};

/// A correlation with its percentile interval.
struct Correlation {
  double rho = 0;
  double low = 0;
  double high = 0;
  size_t pairs = 0;
  size_t replicates = 0;  ///< replicates with a correlation; constant ones are excluded
};

/// nullopt where spearman() is. Equal seeds give equal intervals on every machine.
[[nodiscard]] std::optional<Correlation> spearman_interval(std::span<const double> x,
                                                           std::span<const double> y,
                                                           const BootstrapOptions& options);

}  // namespace goban::base::statistics
