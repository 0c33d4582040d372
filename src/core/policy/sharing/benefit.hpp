// Benefit: what sharing saves in joules for the same work, and what it costs in time (spec 3: what
// does not save is refused).
//
// In a second the shared GPUs do some work of each job. Apart, the joiner would do its part alone
// and the others theirs as they are; both take their watts and their parts of the host for it. The
// time they would need less for it apart is the delay.
#pragma once

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

/// Jobs of a group before and after one more joins on some or all of its GPUs.
struct Joining {
  const TenantSet* before = nullptr;
  const SetPrediction* before_prediction = nullptr;
  const TenantSet* with = nullptr;  ///< `before` and the joiner as the last
  const SetPrediction* with_prediction = nullptr;
  uint32_t group_gpus = 1;   ///< that the residents hold together
  uint32_t shared_gpus = 1;  ///< of them, those of the joiner
};

struct Benefit {
  double saved_part = 0;  ///< of the joules for the same work apart; negative if it costs more
  double saved_w = 0;     ///< joules saved in a second of being together
  double delay = 0;       ///< seconds that the jobs lose in it, summed
};

/// Without a power model every GPU counts the same watts whatever it does.
[[nodiscard]] Benefit predicted_benefit(const SharingView& view, const Joining& joining);

}  // namespace goban::core::policy
