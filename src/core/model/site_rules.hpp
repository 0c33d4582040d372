// The rules of a site: accounts and users with shares and hard limits, partitions, qualities of
// service, and the weights of job priorities. Plain values; site_rules_file.hpp reads them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

/// Limits on what all jobs of one account or user hold at a time. A job that would exceed them
/// waits and does not block other jobs.
struct HardLimits {
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  int32_t max_gpus = kNone;
  int32_t max_jobs = kNone;  ///< running at once
  [[nodiscard]] bool any() const { return max_gpus != kNone || max_jobs != kNone; }
};

/// An account: a project, a group, a department. Sub-accounts divide the share of their parent.
struct AccountRule {
  AccountId parent;        ///< invalid: directly under the root
  double shares = 1;       ///< relative to its siblings
  HardLimits limits;       ///< of the account, including its sub-accounts
  HardLimits limits_each;  ///< of each user in this account
};

struct UserRule {
  AccountId account;
  UserId user;
  double shares = 1;  ///< relative to the other users and sub-accounts of the account
  HardLimits limits;
};

/// Weights of the factors of a job's priority, as in Slurm's multifactor plug-in; each factor is
/// from 0 to 1. Slurm has no defaults; ours give fair-share the largest weight, as sites do.
struct PriorityWeights {
  double age = 1'000;
  double fair_share = 10'000;
  double qos = 2'000;
  double partition = 1'000;
  double size = 500;                                           ///< negative: smaller jobs first
  base::TimeNs age_max_ns = base::from_seconds(7 * 86'400.0);  ///< age at which the age factor is 1
};

/// Ids beyond the lists have the default rule: a separate account under the root, one share, no
/// limits, priority 0, sharing undeclared.
struct SiteRules {
  std::vector<AccountRule> accounts;  ///< by AccountId; parents are in the list, without cycles
  std::vector<UserRule> users;
  std::vector<double> partition_priority;  ///< by PartitionId, from 0 to 1
  /// By PartitionId: for jobs that do not declare whether they share their GPUs.
  std::vector<SharingRequest> partition_sharing;
  std::vector<double> qos_priority;  ///< by QosId, from 0 to 1
  PriorityWeights weights;
  /// Half-life of usage; 0 = usage does not decay.
  base::TimeNs half_life_ns = base::from_seconds(7 * 86'400.0);
  /// Priorities are recomputed at multiples of this interval.
  base::TimeNs recalculate_ns = base::from_seconds(300);

  [[nodiscard]] SharingRequest sharing_of(PartitionId partition) const {
    return partition.index() < partition_sharing.size() ? partition_sharing[partition.index()]
                                                        : SharingRequest::Unsaid;
  }
};

}  // namespace goban::core::model
