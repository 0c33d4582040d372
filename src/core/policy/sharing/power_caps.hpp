// Power limits into slack: a group that has time to spare may run slower if that takes fewer
// joules.
#pragma once

#include "core/policy/sharing/promises.hpp"

namespace goban::core::policy {

/// The limit under which the work of a group costs least: in joules, its part of the host and of
/// idle GPUs on its nodes included, and at `delay_price_w` joules a second by which a job is
/// delayed; -1 if none costs less than no limit. Only for groups whose jobs all have a promise,
/// which has to stand on the upper quantile, and hold no other GPUs; only while nobody waits, for
/// what is slowed ends later.
[[nodiscard]] int8_t cap_into_slack(const SharingView& view, GroupId id, double delay_price_w = 0);

}  // namespace goban::core::policy
