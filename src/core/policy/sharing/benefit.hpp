// Benefit of sharing: energy saved for the same work, and the delay of the jobs (EaCO: prediction,
// docs/papers.md).
//
// In one second the shared GPUs do some work of each job. Separately, the joining job would do its
// part alone, the residents theirs as before; the energy of both includes their parts of the
// host's. The delay is the time that they would need less separately.
#pragma once

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

/// Jobs of a group before and after a job joins on some or all of its GPUs.
struct Joining {
  const TenantSet* before = nullptr;
  const SetPrediction* before_prediction = nullptr;
  const TenantSet* with = nullptr;  ///< `before` and, last, the joining job
  const SetPrediction* with_prediction = nullptr;
  uint32_t group_gpus = 1;   ///< GPUs of the residents
  uint32_t shared_gpus = 1;  ///< those of them that the joining job takes
};

struct Benefit {
  double saved_part = 0;  ///< share of the energy of separate runs; negative if sharing costs more
  double saved_w = 0;     ///< joules saved per second of sharing
  double delay = 0;       ///< seconds lost per second of sharing, summed over the jobs
};

/// Without a power model every GPU counts the same constant power.
[[nodiscard]] Benefit predicted_benefit(const SharingView& view, const Joining& joining);

}  // namespace goban::core::policy
