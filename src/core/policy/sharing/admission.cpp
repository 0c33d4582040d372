#include "core/policy/sharing/admission.hpp"

#include <algorithm>
#include <cmath>

#include "core/knowledge/colocation/gpu_memory.hpp"

namespace goban::core::policy {
namespace {

bool has_broken_pair(const SharingView& view, uint32_t broken_max, std::span<const AppId> apps) {
  for (size_t i = 0; i < apps.size(); ++i) {
    for (size_t j = i + 1; j < apps.size(); ++j) {
      if (view.memory().times_broken(apps[i], apps[j]) > broken_max) return true;
    }
  }
  return false;
}

/// Jobs without an account are compared by user.
bool of_one_account(const model::JobRequest& one, const model::JobRequest& other) {
  if (one.account != other.account) return false;
  return one.account.valid() || one.user == other.user;
}

/// The group changed less than min_residence_ns ago. The start of its first job is not a change.
bool settling(const SharingView& view, TimeNs min_residence_ns, const Tenants::Group& group) {
  if (view.now() - group.changed_ns >= min_residence_ns) return false;
  return group.jobs.size() > 1 || view.job(group.jobs[0]).run_start_ns != group.changed_ns;
}

}  // namespace

Refusal refuse_set(const SharingView& view, const AdmissionRules& rules, const TenantSet& set) {
  if (set.size() <= 1) return Refusal::None;
  if (set.too_large() || static_cast<int64_t>(set.size()) > rules.jobs_per_gpu_max) {
    return Refusal::JobsPerGpu;
  }
  if (!set.may_share(rules.sharing.everyone)) return Refusal::OptedOut;
  if (std::isfinite(rules.util_max_pct)) {
    const double joint_pct = set.joint_util_pct();
    if (joint_pct < 0 || joint_pct > rules.util_max_pct) return Refusal::Utilisation;
  }
  const model::GpuModel& gpu_model = view.tenants().cluster().gpu_models()[set.gpu_model()];
  if (!gpu_model.memory_enforced && !rules.sharing.unenforced) return Refusal::Unenforced;
  const knowledge::GpuMemory gpu{.total_bytes = gpu_model.mem_bytes};
  const knowledge::MemoryFit fit = memory_fit(gpu, set.mem_bytes());
  if (fit == knowledge::MemoryFit::TooLarge) return Refusal::Memory;
  if (fit == knowledge::MemoryFit::Unknown && rules.memory_known) return Refusal::MemoryUnknown;
  if (rules.broken_max < UINT32_MAX && has_broken_pair(view, rules.broken_max, set.apps())) {
    return Refusal::BrokenPair;
  }
  return Refusal::None;
}

Refusal refuse_group(const SharingView& view, const AdmissionRules& rules, const JobState& job,
                     const Tenants::Group& group) {
  if (group.locked) return Refusal::Locked;
  if (view.memory().stays_alone(job.job)) return Refusal::BrokenJob;
  if (rules.priority_alone && job.request.priority > 0) return Refusal::Priority;
  for (const JobId id : group.jobs) {
    const model::JobRequest& resident = view.job(id).request;
    if (rules.priority_alone && resident.priority > 0) return Refusal::Priority;
    if (view.memory().stays_alone(id)) return Refusal::BrokenJob;
    if (rules.sharing.within_account && !of_one_account(resident, job.request)) {
      return Refusal::Account;
    }
  }
  if (view.memory().rejected(job.job, group.jobs)) return Refusal::Rejected;
  if (settling(view, rules.min_residence_ns, group)) return Refusal::Settling;
  return Refusal::None;
}

}  // namespace goban::core::policy
