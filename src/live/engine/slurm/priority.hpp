// The priority that Slurm's multifactor plug-in would give a job, which shows 0 while we hold it:
// from the site's weights, the fair-share factors that sshare prints, and the job's request. Pure.
// Source: "Multifactor Priority Plugin" of Slurm's documentation.
//
// Age raises all waiting jobs alike until PriorityMaxAge. That common part is left out, so that the
// priority of a job changes only when its place in the order may.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/node_list.hpp"

namespace goban::live::engine::slurm {

struct PriorityRules {
  bool multifactor = false;  ///< else Slurm's order is that of submission
  double age = 0, association = 0, fair_share = 0, job_size = 0, partition = 0,
         qos = 0;                        ///< weights
  std::map<std::string, double> tres{};  ///< weights
  base::TimeNs age_max_ns = int64_t{7} * 86'400 * base::kSecond;
  base::TimeNs period_ns = 300 * base::kSecond;  ///< between two calculations
  bool favor_small = false;
  double cpus = 0, nodes = 0;  ///< of the cluster
  struct Partition {
    double factor = 0;
    std::map<std::string, double> tres{};
  };
  std::map<std::string, Partition> partitions{};
  std::map<std::string, double> qos_factor{};
  using Member = std::tuple<std::string, std::string, std::string>;  ///< account, user, partition
  std::map<Member, double> fair_share_factor{};
  std::map<Member, double> association_factor{};
};

/// True if `config`, which scontrol show config printed, names the multifactor plug-in.
[[nodiscard]] bool is_multifactor(std::string_view config);

/// `config`: scontrol show config. `partitions`: scontrol -o show partition. `assoc_mgr`: scontrol
/// -o show assoc_mgr flags=assoc,qos. `sshare`: sshare -a -h -P -m -o
/// Account,User,Partition,FairShare. What is not understood counts as 0.
[[nodiscard]] PriorityRules parse_priority(std::string_view config, std::string_view partitions,
                                           std::string_view assoc_mgr, std::string_view sshare,
                                           std::span<const NodeRow> nodes);

/// Larger starts first. `now_ns`: since 1970. Of several partitions the best counts.
[[nodiscard]] int32_t priority_of(const PriorityRules& rules, const JobRow& row,
                                  const JobWords& words, base::TimeNs now_ns);

}  // namespace goban::live::engine::slurm
