// Options of backfill.
#pragma once

#include <array>

#include "core/policy/setting.hpp"

namespace goban::core::policy {

struct BackfillOptions {
  /// promise-backfill: a job that has waited for this long beyond its promised start gets GPUs of
  /// running jobs that can restart. 0 = it waits.
  double late_bound_s = 0;
};

inline constexpr auto kBackfillOptions = std::to_array<Setting<BackfillOptions>>({
    {"late_bound_s",
     "promise-backfill preempts for a job that starts this much later than promised; 0: off",
     &BackfillOptions::late_bound_s, 0, kSettingSecondsMax},
});

}  // namespace goban::core::policy
