// Which GPU to measure next, so that scores stay fresh at almost no cost: idle GPUs alone, and
// never more than a share of all GPU time since the books began.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace goban::core::knowledge {

/// Of all GPU time, for measuring again.
inline constexpr double kRefreshShare = 0.001;

/// What the planner knows of one GPU.
struct RefreshGpu {
  bool idle = false;
  bool expired = false;  ///< never measured, or under another driver
  bool suspect = false;  ///< jobs say that its score is wrong
  double age_s = 0;      ///< since its last measurement
};

/// What measuring has cost.
struct RefreshBooks {
  double gpu_seconds = 0;  ///< GPUs x time since the books began
  double spent_s = 0;      ///< GPU seconds of measurements
};

struct RefreshOptions {
  double cost_s = 20;              ///< GPU seconds of measuring one GPU
  double age_min_s = 24 * 3600.0;  ///< younger scores are left alone, unless expired or suspect
  /// A suspect GPU is measured again at the earliest after so long: whoever raises suspicions
  /// cannot spend the budget of all.
  double suspect_age_min_s = 3600;
};

/// Index of the GPU to measure now; nothing if none is idle and due, or if the budget does not
/// allow it yet. Expired ones first, then suspects, then the oldest score; the lowest index on a
/// tie. The share holds at every moment: spent_s + cost_s <= kRefreshShare * gpu_seconds.
[[nodiscard]] std::optional<size_t> next_to_refresh(std::span<const RefreshGpu> gpus,
                                                    const RefreshBooks& books,
                                                    const RefreshOptions& options = {});

}  // namespace goban::core::knowledge
