// Admission: whether a job may join others at all, before anyone asks how it would go. Every
// refusal has a name.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {

enum class Refusal : uint8_t {
  None,
  JobsPerGpu,   ///< too many jobs on a GPU
  OptedOut,     ///< somebody does not share
  Utilisation,  ///< above the threshold, or unknown
  Memory,       ///< the peaks do not fit
  MemoryUnknown,
  BrokenPair,  ///< two of the applications broke beside each other
  Locked,      ///< an allocation on the group is provisional
  Account,     ///< of another account, or without one of another user
  Priority,    ///< somebody is to be alone
  Rejected,    ///< the job was taken off this very set
  Settling,    ///< the group changed a short time ago
  BrokenJob,   ///< somebody broke beside others before
  Unenforced,  ///< nobody would be held to his memory
};
[[nodiscard]] std::string_view refusal_name(Refusal refusal);

struct AdmissionRules {
  SharingRules sharing{};
  int32_t jobs_per_gpu_max = 2;
  double util_max_pct = std::numeric_limits<double>::infinity();  ///< infinite: unknown ones pass
  bool memory_known = false;         ///< jobs of unknown memory stay alone
  bool priority_alone = false;       ///< so do jobs of priority above zero
  uint32_t broken_max = UINT32_MAX;  ///< pairs that broke more often are not packed
  TimeNs min_residence_ns = 0;       ///< nobody joins so soon after a join or leave
};

/// Whether jobs may be together on a GPU, whoever they are. A set of one is always admitted.
[[nodiscard]] Refusal refuse_set(const SharingView& view, const AdmissionRules& rules,
                                 const TenantSet& set);
/// Whether the job may join this very group, if the set may be.
[[nodiscard]] Refusal refuse_group(const SharingView& view, const AdmissionRules& rules,
                                   const JobState& job, const Tenants::Group& group);

}  // namespace goban::core::policy
