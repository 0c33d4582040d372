// Prices: what sharing and power limits have to save for the time that they cost.
#pragma once

#include <array>

#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/policy/setting.hpp"

namespace goban::core::policy {

/// None of these is in the paper's algorithm.
struct PriceOptions {
  double min_saving = 0.02;  ///< of joules per work, predicted, to be worth it
  /// What a second of a job's time is worth, in joules: sharing and power limits have to save more
  /// for each second by which they delay jobs. It is the paper's weight between energy and time
  /// per epoch, (1 - alpha) / alpha, and what ShareRanking::Worth ranks by. 0 = time is free. Of an
  /// empty cluster: it rises with demand (worth.hpp), for a delayed job holds GPUs of others.
  double delay_price_w = 0;
  /// While jobs ask for far more GPUs than there are (worth.hpp), sharing is judged by throughput
  /// instead: rates of a set have to add up to so much. 0 = judged as ever.
  double crowded_rates = 0;
  bool power_caps = true;
  /// What power limits have to save for a second's delay of a job, if that is more than
  /// `delay_price_w`; it rises with demand likewise.
  double cap_price_w = 200;
};

inline constexpr auto kPriceOptions = std::to_array<Setting<PriceOptions>>({
    {"min_saving", "part of the joules per work that sharing has to save",
     &PriceOptions::min_saving, -1, 1},
    {"delay_price_w", "joules that have to be saved for a second's delay of a job",
     &PriceOptions::delay_price_w, 0, 1e9},
    {"crowded_rates", "if more GPUs are asked for than exist: least sum of rates; 0: off",
     &PriceOptions::crowded_rates, 0, static_cast<double>(knowledge::kSetMax)},
    {"power_caps", "0: GPUs are never limited", &PriceOptions::power_caps},
    {"cap_price_w", "as delay_price_w, of power limits alone, if that is more",
     &PriceOptions::cap_price_w, 0, 1e9},
});

}  // namespace goban::core::policy
