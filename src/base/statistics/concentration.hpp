// Inequality of a distribution over its holders: Gini coefficient, top shares, Lorenz curve.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace goban::base::statistics {

/// Gini coefficient of amounts >= 0: 0 if all are equal, (n-1)/n if one holder has everything.
/// nullopt without holders or if the total is 0.
[[nodiscard]] std::optional<double> gini(std::span<const double> amounts);

/// Share of the total held by the largest ceil(share * n) holders; share in [0, 1]. nullopt as for
/// gini().
[[nodiscard]] std::optional<double> top_share(std::span<const double> amounts, double share);

/// The fewest holders that together have at least `share` of the total ("the top 6 % of the users
/// own 80 %"). nullopt as for gini().
struct TopHolders {
  size_t holders = 0;
  size_t all = 0;
  double owned = 0;  ///< their share of the total
};
[[nodiscard]] std::optional<TopHolders> holders_of(std::span<const double> amounts, double share);

/// Lorenz curve from (0, 0) to (1, 1): the smallest holders, a share `holders` of all, own the
/// share `owned`. Empty where gini() is nullopt.
struct LorenzPoint {
  double holders = 0;
  double owned = 0;
};
[[nodiscard]] std::vector<LorenzPoint> lorenz(std::span<const double> amounts);

}  // namespace goban::base::statistics
