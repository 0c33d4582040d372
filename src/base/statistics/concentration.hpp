// How unequally a total is spread over its holders: Gini, top shares, the Lorenz curve.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace goban::base::statistics {

/// Gini coefficient of amounts >= 0: 0 if all hold the same, (n-1)/n if one holds all. None
/// without holders or if the total is 0.
[[nodiscard]] std::optional<double> gini(std::span<const double> amounts);

/// Share of the total that the largest ceil(share * n) holders have; share in [0, 1]. None as
/// gini().
[[nodiscard]] std::optional<double> top_share(std::span<const double> amounts, double share);

/// The fewest holders that together have at least `share` of the total ("the top 6 % of the users
/// own 80 %"). None as gini().
struct TopHolders {
  size_t holders = 0;
  size_t all = 0;
  double owned = 0;  ///< their share of the total
};
[[nodiscard]] std::optional<TopHolders> holders_of(std::span<const double> amounts, double share);

/// Lorenz curve from (0, 0) to (1, 1): the poorest `holders` share own `owned`. Empty as gini().
struct LorenzPoint {
  double holders = 0;
  double owned = 0;
};
[[nodiscard]] std::vector<LorenzPoint> lorenz(std::span<const double> amounts);

}  // namespace goban::base::statistics
