// Chooses the GPU to measure next, so that scores stay fresh at little cost: idle GPUs only, and
// at most a fixed share of all GPU time since accounting began.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace goban::core::knowledge {

/// Maximum share of GPU time spent on refresh measurements.
inline constexpr double kRefreshShare = 0.001;

/// State of one GPU, as input of the plan.
struct RefreshGpu {
  bool idle = false;
  bool expired = false;  ///< never measured, or under another driver
  bool suspect = false;  ///< evidence from jobs disagrees with its score
  double age_s = 0;      ///< since its last measurement
};

/// Cost of measurements so far.
struct RefreshBooks {
  double gpu_seconds = 0;  ///< GPUs x time since accounting began
  double spent_s = 0;      ///< GPU seconds of measurements
};

struct RefreshOptions {
  double cost_s = 20;              ///< GPU seconds per measurement of one GPU
  double age_min_s = 24 * 3600.0;  ///< newer scores are not refreshed, unless expired or suspect
  /// Minimum age at which a suspect GPU is measured again, so that false reports cannot use up the
  /// budget.
  double suspect_age_min_s = 3600;
};

/// Index of the GPU to measure now; nullopt if none is idle and due, or the budget does not allow
/// it yet. Expired scores first, then suspect GPUs, then the oldest score; the lowest index on a
/// tie. The bound holds at all times: spent_s + cost_s <= kRefreshShare * gpu_seconds.
[[nodiscard]] std::optional<size_t> next_to_refresh(std::span<const RefreshGpu> gpus,
                                                    const RefreshBooks& books,
                                                    const RefreshOptions& options = {});

}  // namespace goban::core::knowledge
