// Options of migration.
#pragma once

#include <array>

#include "core/policy/setting.hpp"

namespace goban::core::policy {

struct MigrationOptions {
  double move_interval_s = 600;
  double move_horizon_s = 3600;  ///< longest time for which an emptied node is assumed unused
};

inline constexpr auto kMigrationOptions = std::to_array<Setting<MigrationOptions>>({
    {"move_interval_s", "interval between searches for nodes to empty, in seconds",
     &MigrationOptions::move_interval_s, 1, kSettingSecondsMax},
    {"move_horizon_s", "longest time an emptied node is assumed unused, in seconds",
     &MigrationOptions::move_horizon_s, 0, kSettingSecondsMax},
});

}  // namespace goban::core::policy
