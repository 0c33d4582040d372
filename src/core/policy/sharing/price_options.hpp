// Prices: what sharing and power limits must save for the delay that they cause.
#pragma once

#include <array>

#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/policy/setting.hpp"

namespace goban::core::policy {

/// None of these is part of EaCO's algorithm.
struct PriceOptions {
  double min_saving = 0.02;  ///< minimum predicted share of energy saved for the same work
  /// Price of delay, in joules per second of a job's time: sharing and power limits must save more
  /// than this per second of delay. It is EaCO's weight between energy and time per epoch, (1 -
  /// alpha) / alpha, and part of ShareRanking::Worth. 0 = time is free. The value is for an empty
  /// cluster and rises with demand (worth.hpp), because a delayed job holds GPUs that others need.
  double delay_price_w = 0;
  /// While demand far exceeds the cluster (worth.hpp), sharing is judged by throughput instead: the
  /// rates of a set must add up to at least this value. 0 = off.
  double crowded_rates = 0;
  bool power_caps = true;
  /// Price of delay for power limits, if larger than `delay_price_w`; it rises with demand as well.
  double cap_price_w = 200;
};

inline constexpr auto kPriceOptions = std::to_array<Setting<PriceOptions>>({
    {"min_saving", "minimum share of the energy per work that sharing must save",
     &PriceOptions::min_saving, -1, 1},
    {"delay_price_w", "joules that must be saved per second of delay of a job",
     &PriceOptions::delay_price_w, 0, 1e9},
    {"crowded_rates", "minimum sum of rates while demand exceeds the cluster; 0: off",
     &PriceOptions::crowded_rates, 0, static_cast<double>(knowledge::kSetMax)},
    {"power_caps", "0: no power limits", &PriceOptions::power_caps},
    {"cap_price_w", "delay_price_w for power limits, if larger", &PriceOptions::cap_price_w, 0,
     1e9},
});

}  // namespace goban::core::policy
