// Admission: whether a job may join others at all, checked before any prediction.
#pragma once

#include <cstdint>
#include <limits>

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

enum class Refusal : uint8_t {
  None,
  JobsPerGpu,   ///< too many jobs on a GPU
  OptedOut,     ///< a job does not share
  Utilisation,  ///< above the threshold, or unknown
  Memory,       ///< the peaks do not fit
  MemoryUnknown,
  BrokenPair,  ///< two of the applications failed together
  Locked,      ///< a placement on the group is provisional
  Account,     ///< another account; without accounts, another user
  Priority,    ///< a job of this priority must be alone
  Rejected,    ///< a placement of the job with this set was undone before
  Settling,    ///< the group changed too recently
  BrokenJob,   ///< a job failed with neighbours before
  Unenforced,  ///< the GPU does not enforce memory limits
};

struct AdmissionRules {
  SharingRules sharing{};
  int32_t jobs_per_gpu_max = 2;
  double util_max_pct = std::numeric_limits<double>::infinity();  ///< infinite: no check
  bool memory_known = false;         ///< jobs of unknown peak memory stay alone
  bool priority_alone = false;       ///< jobs of priority above zero stay alone
  uint32_t broken_max = UINT32_MAX;  ///< pairs that failed together more often are kept apart
  TimeNs min_residence_ns = 0;       ///< minimum time between changes of a group and a join
};

/// Whether jobs with these traits may share a GPU. A set of one is always admitted.
[[nodiscard]] Refusal refuse_set(const SharingView& view, const AdmissionRules& rules,
                                 const TenantSet& set);
/// Whether the job may join this particular group, given that the set is admitted.
[[nodiscard]] Refusal refuse_group(const SharingView& view, const AdmissionRules& rules,
                                   const JobState& job, const Tenants::Group& group);

}  // namespace goban::core::policy
