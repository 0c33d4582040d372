// The rules of a site: accounts and users with shares and hard limits, partitions, qualities of
// service, and how a job's priority is put together. Plain values; site_rules_file.hpp reads them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/time.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

/// What all jobs of one account or user may hold at a time. A job that would go beyond waits
/// without standing in anybody's way.
struct HardLimits {
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  int32_t max_gpus = kNone;
  int32_t max_jobs = kNone;  ///< running at once
  [[nodiscard]] bool any() const { return max_gpus != kNone || max_jobs != kNone; }
};

/// An account: a project, a group, a department. Sub-accounts share what their parent has.
struct AccountRule {
  AccountId parent;        ///< invalid: right under the root
  double shares = 1;       ///< relative to its siblings
  HardLimits limits;       ///< of the account, its sub-accounts included
  HardLimits limits_each;  ///< of each user in this account
};

struct UserRule {
  AccountId account;
  UserId user;
  double shares = 1;  ///< relative to the other users and sub-accounts of the account
  HardLimits limits;
};

/// Weights of the parts of a job's priority, as in Slurm's multifactor plug-in: each part is a
/// number from 0 to 1. Slurm has no defaults; these are ours, with fair-share first as sites do.
struct PriorityWeights {
  double age = 1'000;
  double fair_share = 10'000;
  double qos = 2'000;
  double partition = 1'000;
  double size = 500;                                           ///< below 0: smaller jobs go first
  base::TimeNs age_max_ns = base::from_seconds(7 * 86'400.0);  ///< the age part is full then
};

/// Ids beyond the lists have the default rule: an account of its own under the root, one share, no
/// limits; priority 0;
/// nothing said about sharing.
struct SiteRules {
  std::vector<AccountRule> accounts;  ///< by AccountId; parents are in the list, without cycles
  std::vector<UserRule> users;
  std::vector<double> partition_priority;  ///< by PartitionId, from 0 to 1
  /// By PartitionId: for jobs that do not say whether they share their GPUs.
  std::vector<SharingWish> partition_sharing;
  std::vector<double> qos_priority;  ///< by QosId, from 0 to 1
  PriorityWeights weights;
  /// Usage counts half after so long; 0 = it is never forgotten.
  base::TimeNs half_life_ns = base::from_seconds(7 * 86'400.0);
  /// Priorities are computed anew at multiples of this.
  base::TimeNs recalculate_ns = base::from_seconds(300);

  [[nodiscard]] SharingWish sharing_of(PartitionId partition) const {
    return partition.index() < partition_sharing.size() ? partition_sharing[partition.index()]
                                                        : SharingWish::Unsaid;
  }
};

}  // namespace goban::core::model
