// Silhouette of a clustering of numbers: how much closer values are to their own cluster than to
// the next one (Rousseeuw 1987), in one sweep over the sorted values instead of over all pairs.
#pragma once

#include <cstdint>
#include <span>

namespace goban::core::knowledge {

/// Mean over all values of (b - a) / max(a, b), where a = mean distance to the other values of the
/// same cluster and b = minimum mean distance to another cluster. Between -1 and 1. As in
/// scikit-learn, a value alone in its cluster counts 0; with fewer than two clusters the result is
/// 0. `cluster_of`: clusters numbered from 0, in any arrangement. Cost: O(n (log n + K)).
[[nodiscard]] double mean_silhouette(std::span<const double> values,
                                     std::span<const uint32_t> cluster_of);

}  // namespace goban::core::knowledge
