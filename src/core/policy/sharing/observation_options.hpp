// Options of observing provisional placements.
#pragma once

#include <array>

#include "core/policy/setting.hpp"

namespace goban::core::policy {

/// EaCO's algorithm uses observe_max_s only.
struct ObservationOptions {
  double observe_max_s = 1800;  ///< maximum duration of an observation
  /// Minimum time between a join or leave and the next join, and between a start and a migration.
  double min_residence_s = 600;
  double cool_down_s = 3600;  ///< time after an undo for which the job does not share
  double undo_cost_s = 60;    ///< checkpoint, restart and warm-up, charged in deadlines
  uint32_t broken_max = 1;    ///< applications that failed together more often are kept apart
};

inline constexpr auto kObservationOptions = std::to_array<Setting<ObservationOptions>>({
    {"observe_max_s", "maximum duration of an observation, in seconds",
     &ObservationOptions::observe_max_s, 1, kSettingSecondsMax},
    {"min_residence_s", "minimum time from a join or leave to the next join, in seconds",
     &ObservationOptions::min_residence_s, 0, kSettingSecondsMax},
    {"cool_down_s", "time after an undo for which a job is not shared, in seconds",
     &ObservationOptions::cool_down_s, 0, kSettingSecondsMax},
    {"undo_cost_s", "cost of an undo, charged in deadlines, in seconds",
     &ObservationOptions::undo_cost_s, 0, kSettingSecondsMax},
    {"broken_max", "number of joint failures above which applications are kept apart",
     &ObservationOptions::broken_max, 0, 1e9},
});

}  // namespace goban::core::policy
