// What time is worth while GPUs are scarce (PriceOptions::delay_price_w, crowded_rates).
#pragma once

#include <algorithm>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

/// GPUs asked by active jobs, for each GPU of the cluster.
[[nodiscard]] inline double demand(const SharingView& view) {
  return static_cast<double>(view.demand_gpus()) / view.tenants().cluster().num_gpus();
}

/// As waits in a queue do, the price rises with 1 / (1 - demand), up to a demand of so much.
inline constexpr double kPriceDemandMax = 0.85;
[[nodiscard]] inline double delay_price_w(const SharingView& view, double of_empty_cluster_w) {
  return of_empty_cluster_w / (1 - std::min(demand(view), kPriceDemandMax));
}

/// Waiting takes longer than being slowed: demand is so much or more.
inline constexpr double kCrowdedDemand = 1.25;
[[nodiscard]] inline bool crowded(const SharingView& view) {
  return demand(view) >= kCrowdedDemand;
}

}  // namespace goban::core::policy
