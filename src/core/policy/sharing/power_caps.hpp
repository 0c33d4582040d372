// Power limits within slack: a group with slack may run slower if that saves energy.
#pragma once

#include "core/policy/sharing/promises.hpp"

namespace goban::core::policy {

/// The power limit with the lowest cost for the work of a group: its energy, including its part of
/// the host and of idle GPUs on its nodes, plus `delay_price_w` joules per second of delay of a
/// job; -1 if no limit costs less. Only for groups whose jobs all have a service target, which must
/// be met at the upper quantile, and hold no other GPUs; only while no job waits, because slower
/// jobs end later.
[[nodiscard]] int8_t cap_into_slack(const SharingView& view, GroupId id, double delay_price_w = 0);

}  // namespace goban::core::policy
