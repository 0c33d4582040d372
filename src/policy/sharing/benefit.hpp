// Benefit: whether sharing saves joules for the same work (spec 3: what does not is refused).
//
// In a second the shared GPUs do some work of each job. Apart, the joiner would do its part alone
// and the others theirs as they are; both take their watts and their parts of the host for it.
#pragma once

#include "policy/sharing/tenant_set.hpp"

namespace goban::policy {

/// Jobs of a group before and after one more joins on some or all of its GPUs.
struct Joining {
  const TenantSet* before = nullptr;
  const SetPrediction* before_prediction = nullptr;
  const TenantSet* with = nullptr;  ///< `before` and the joiner as the last
  const SetPrediction* with_prediction = nullptr;
  uint32_t group_gpus = 1;   ///< that the residents hold together
  uint32_t shared_gpus = 1;  ///< of them, those of the joiner
};

/// Part of the joules that is saved against doing the same work apart; negative if it costs more.
/// Without a power model every GPU counts the same watts whatever it does.
[[nodiscard]] double predicted_saving(const SharingView& view, const Joining& joining);

}  // namespace goban::policy
