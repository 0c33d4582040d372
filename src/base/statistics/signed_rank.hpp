// The middle of paired differences with its confidence interval, from Wilcoxon's signed ranks
// (Hollander and Wolfe, Nonparametric Statistical Methods, 1999, section 3.2 and 3.3).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace goban::base::statistics {

struct SignedRankInterval {
  double middle = 0;  ///< Hodges-Lehmann: the median of the means of all pairs of differences
  double low = 0;     ///< of the 95 % confidence interval
  double high = 0;
};

/// Fewer differences have no interval at 95 %: all of one sign happen too often by chance.
inline constexpr size_t kSignedRankLeast = 6;

/// If every difference is as likely to have the opposite sign, the interval excludes 0 in at most
/// 5 % of the cases: exactly, for any sizes of the differences and whatever they have in common.
/// nullopt for fewer than kSignedRankLeast. Cost: the cube of their number.
[[nodiscard]] std::optional<SignedRankInterval> signed_rank_interval_95(
    std::span<const double> differences);

/// The highest rate at which `hits` or fewer of `trials` still have a probability of 5 %: the upper
/// 95 % bound of a rate (Clopper and Pearson 1934, one-sided). 1 if all are hits.
[[nodiscard]] double rate_upper_95(size_t hits, size_t trials);

}  // namespace goban::base::statistics
