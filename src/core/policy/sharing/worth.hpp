// Value of time under scarcity of GPUs (PriceOptions::delay_price_w, crowded_rates).
#pragma once

#include <algorithm>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

/// GPUs requested by unfinished jobs / GPUs of the cluster.
[[nodiscard]] inline double demand(const SharingView& view) {
  return static_cast<double>(view.demand_gpus()) / view.tenants().cluster().num_gpus();
}

/// The price rises with 1 / (1 - demand), like waiting times in a queue, up to this demand.
inline constexpr double kPriceDemandMax = 0.85;
[[nodiscard]] inline double delay_price_w(const SharingView& view, double of_empty_cluster_w) {
  return of_empty_cluster_w / (1 - std::min(demand(view), kPriceDemandMax));
}

/// Demand from which waiting costs more than slowdown.
inline constexpr double kCrowdedDemand = 1.25;
[[nodiscard]] inline bool crowded(const SharingView& view) {
  return demand(view) >= kCrowdedDemand;
}

}  // namespace goban::core::policy
