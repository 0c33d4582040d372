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
    {"observe_max_s", "longest observation of a provisional place",
     &ObservationOptions::observe_max_s, 1, kSettingSecondsMax},
    {"min_residence_s", "after a join or leave nobody joins for so long",
     &ObservationOptions::min_residence_s, 0, kSettingSecondsMax},
    {"cool_down_s", "after an undo the job stays alone for so long",
     &ObservationOptions::cool_down_s, 0, kSettingSecondsMax},
    {"undo_cost_s", "what an undo costs a job, charged in deadlines",
     &ObservationOptions::undo_cost_s, 0, kSettingSecondsMax},
    {"broken_max", "applications that broke together more often are kept apart",
     &ObservationOptions::broken_max, 0, 1e9},
});

}  // namespace goban::core::policy
