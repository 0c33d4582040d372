// Which jobs may share GPUs, and within what limits.
#pragma once

#include <array>

#include "core/knowledge/colocation/colocation_history.hpp"
#include "core/policy/setting.hpp"

namespace goban::core::policy {

/// Site rules: which jobs may share at all. A job that declares no never shares.
struct SharingRules {
  bool everyone = true;         ///< false: only jobs that declare yes, or whose partition does
  bool within_account = false;  ///< neighbours must have the same account, or user if without
  bool unenforced = true;       ///< also on GPUs that do not enforce memory requests
};

/// Defaults of the live scheduler: off unless a job opts in, and then within one account.
inline constexpr SharingRules kLiveSharing{
    .everyone = false, .within_account = true, .unenforced = false};

inline constexpr auto kSharingRules = std::to_array<Setting<SharingRules>>({
    {"everyone", "0: only jobs that declare it, or whose partition does, share",
     &SharingRules::everyone},
    {"within_account", "1: neighbours must have the same account", &SharingRules::within_account},
    {"unenforced", "1: also on GPUs that do not enforce memory requests",
     &SharingRules::unenforced},
});

/// Limits of sharing. EaCO's paper gives none of these values.
struct SharingLimits {
  int32_t jobs_per_gpu_max = 4;
  double util_max_pct = 100;  ///< per GPU: sum of its jobs' utilisations alone
  /// Maximum expected slowdown of a job without a service target. Not in EaCO's algorithm.
  double max_slowdown = 1.3;
  /// A deadline that would be missed even alone from now on still forbids sharing. Otherwise the
  /// job counts as one without a deadline.
  bool lost_deadlines_bind = false;
  /// Jobs that can meet a service target are preempted by priority only. Not in EaCO's algorithm.
  bool spare_promises = false;
};

inline constexpr auto kSharingLimits = std::to_array<Setting<SharingLimits>>({
    {"jobs_per_gpu_max", "maximum number of jobs on one GPU", &SharingLimits::jobs_per_gpu_max, 1,
     static_cast<double>(knowledge::kSetMax)},
    {"util_max_pct", "maximum GPU utilisation, summed over its jobs alone",
     &SharingLimits::util_max_pct, 0, 100.0 * knowledge::kSetMax},
    {"max_slowdown", "maximum expected slowdown of a job without a service target",
     &SharingLimits::max_slowdown, 1, 1000},
    {"lost_deadlines_bind", "1: deadlines that are missed even alone forbid sharing",
     &SharingLimits::lost_deadlines_bind},
    {"spare_promises", "1: jobs that can meet a target are preempted by priority only",
     &SharingLimits::spare_promises},
});

}  // namespace goban::core::policy
