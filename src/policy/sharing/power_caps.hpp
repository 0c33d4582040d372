// Power limits into slack: a group that has time to spare may run slower if that takes fewer
// joules.
#pragma once

#include "policy/sharing/promises.hpp"

namespace goban::policy {

/// The limit under which the work of a group costs least, in joules and at `delay_price_w` joules a
/// second of delay of a job; its part of the host and of idle
/// GPUs on its nodes included; -1 if none takes fewer than no limit. Only for groups whose jobs all
/// have a promise, which has to stand on the upper quantile, and hold no other GPUs; only while
/// nobody waits, for what is slowed ends later.
[[nodiscard]] int8_t cap_into_slack(const SharingView& view, GroupId id, double delay_price_w = 0);

}  // namespace goban::policy
