// Service targets of jobs: when jobs finish under a prediction, and whether that meets their
// deadline or maximum slowdown.
//
//   finish = now + work left x slowdown alone on its GPUs x slowdown by neighbours and power limits
//
// A job in several groups is as slow as in the slowest one.
#pragma once

#include <limits>
#include <optional>

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

struct PromiseRules {
  bool upper = false;  ///< test the upper quantile instead of the mean
  /// A target that would be missed even alone from now on still binds.
  bool lost_bind = false;
  /// The target of a job of unknown work counts as missed. Otherwise such a job counts as one
  /// without a target.
  bool unknown_bind = true;
  /// Also test the worst subset of a set.
  bool worst_of_parts = false;
  /// Maximum mean slowdown of jobs without a target.
  double max_slowdown = std::numeric_limits<double>::infinity();
};

/// A job in a situation to be tested.
struct Prospect {
  const JobState* job = nullptr;
  double alone_slowdown = 1;  ///< on its GPUs, without neighbours
  Slowdown beside{1, 1};      ///< by neighbours and power limits
  double extra_s = 0;         ///< lost before it continues
};

/// The latest end that meets the job's targets; kNever if it has none: the earlier of its deadline
/// and of submission + maximum slowdown x duration alone. If the work of the whole job is unknown,
/// it is estimated from the time run so far, assuming the present neighbours. `left_s`: remaining
/// work x slowdown alone; negative = unknown.
[[nodiscard]] TimeNs promised_end_ns(const SharingView& view, const JobState& job, double left_s);

/// Slack: seconds until promised_end_ns minus the remaining time alone. nullopt if the job has no
/// target, its work is unknown, or the target is missed already.
[[nodiscard]] std::optional<double> slack_s(const SharingView& view, const Prospect& prospect);

[[nodiscard]] bool keeps_promise(const SharingView& view, const PromiseRules& rules,
                                 const Prospect& prospect);

/// Slowdown by neighbours and power limits of a running job in its groups other than `except`; zero
/// if there are none. `worst_of_parts`: the worst over the subsets of the sets there.
[[nodiscard]] Slowdown slowdown_elsewhere(const SharingView& view, JobId job,
                                          model::GroupId except = {}, bool worst_of_parts = false);

/// Whether all jobs of a group meet their targets if the jobs on its GPUs are `set`, slowed as in
/// `prediction` and by a power limit. `leaving` is not tested. `stays_beside` (may be null): the
/// prediction for other GPUs of the group, which do not change.
struct GroupChange {
  const TenantSet* set = nullptr;
  const SetPrediction* prediction = nullptr;
  double time_factor = 1;
  JobId leaving{};
  const SetPrediction* stays_beside = nullptr;
};
[[nodiscard]] bool residents_keep_promises(const SharingView& view, const PromiseRules& rules,
                                           GroupId id, const GroupChange& change);

/// Slowdown by a power limit; 1 without one.
[[nodiscard]] double cap_time_factor(const SharingView& view, uint32_t gpu_model, int8_t cap);

}  // namespace goban::core::policy
