// Promises to jobs: when they finish under a prediction, and whether that keeps their deadline or
// their greatest slowdown.
//
//   finish = now + work left x slowdown alone on its GPUs x slowdown by neighbours and power limits
//
// A job in several groups is as slow as in its slowest one.
#pragma once

#include <limits>
#include <optional>

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

struct PromiseRules {
  bool upper = false;  ///< test on the upper quantile, else on the mean
  /// A promise that would be broken even alone from now on still binds.
  bool lost_bind = false;
  /// A promise to a job whose work nobody knows cannot be kept. Else such a job counts as one
  /// without a promise.
  bool unknown_bind = true;
  /// Test on the worst of what a set may shrink to, too.
  bool worst_of_parts = false;
  /// Of jobs without a promise: mean slowdown at most.
  double max_slowdown = std::numeric_limits<double>::infinity();
};

/// A job in a situation to be judged.
struct Prospect {
  const JobState* job = nullptr;
  double alone_slowdown = 1;  ///< on its GPUs, without neighbours
  Slowdown beside{1, 1};      ///< by neighbours and power limits
  double extra_s = 0;         ///< lost before it goes on
};

/// The end that was promised to a job; kNever if none was. The earlier one of its deadline and of
/// submission + greatest slowdown x duration alone. If nobody knows the work of the whole job, that
/// is estimated from the time it has run so far, as if under the neighbours of today. `left_s`:
/// work left x slowdown alone; negative = unknown.
[[nodiscard]] TimeNs promised_end_ns(const SharingView& view, const JobState& job, double left_s);

/// Seconds from now to the promised end that are not needed alone; none if nothing was promised,
/// nobody knows the work, or the promise is lost already.
[[nodiscard]] std::optional<double> slack_s(const SharingView& view, const Prospect& prospect);

[[nodiscard]] bool keeps_promise(const SharingView& view, const PromiseRules& rules,
                                 const Prospect& prospect);

/// Slowdown by neighbours and power limits of a running job in its groups other than `except`; zero
/// if there are none. `worst_of_parts`: the worst of what the sets there may shrink to.
[[nodiscard]] Slowdown slowdown_elsewhere(const SharingView& view, JobId job,
                                          model::GroupId except = {}, bool worst_of_parts = false);

/// Whether everybody in a group keeps his promise if what lies on its GPUs is `set`, slowed as
/// predicted and by a power limit. `leaving` is not asked. `stays_beside` (may be null): they keep
/// other GPUs of the group, where things stay as they are predicted there.
struct GroupChange {
  const TenantSet* set = nullptr;
  const SetPrediction* prediction = nullptr;
  double time_factor = 1;
  JobId leaving{};
  const SetPrediction* stays_beside = nullptr;
};
[[nodiscard]] bool residents_keep_promises(const SharingView& view, const PromiseRules& rules,
                                           GroupId id, const GroupChange& change);

/// What a power limit does to the time of jobs; 1 without one.
[[nodiscard]] double cap_time_factor(const SharingView& view, uint32_t gpu_model, int8_t cap);

}  // namespace goban::core::policy
