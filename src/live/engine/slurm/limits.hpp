// Limits of associations and QOS: which waiting jobs Slurm would not start if it were told to, so
// that no GPUs are promised to them. Pure. Read: jobs, cpu, node and gres/gpu in Grp*, Max*PerJob,
// Max*PerUser and Max*PerAccount, MaxWall, and GrpTRESMins that are used up. Other limits show when
// Slurm does not start a job. Precedence as in Slurm: partition QOS, QOS, association, its parents.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/slurm/job_list.hpp"

namespace goban::live::engine::slurm {

/// Jobs, CPUs, nodes and GPUs; of a limit, -1 = none.
struct Amounts {
  static constexpr size_t kCount = 4;
  std::array<int64_t, kCount> of{};
  static constexpr Amounts none() { return {{-1, -1, -1, -1}}; }
};

/// What a QOS or an association sets.
struct LimitSet {
  std::string name{};  ///< "QOS small", "account lab", "user ann in account lab"
  Amounts group = Amounts::none();
  Amounts per_job = Amounts::none();
  Amounts per_user = Amounts::none();
  Amounts per_account = Amounts::none();  ///< QOS only
  base::TimeNs wall_ns = 0;               ///< of a job; 0 = none
  std::string used_up{};  ///< GrpTRESMins of which nothing is left, as Slurm writes it
};

struct Limits {
  struct Association {
    LimitSet set{};
    std::string account{};
    std::string parent{};     ///< account; empty: none
    int64_t uid = -1;         ///< -1 = of the account as a whole
    std::string partition{};  ///< empty = of all
  };
  std::vector<Association> associations{};
  std::map<std::string, LimitSet> qos{};
  std::map<std::string, std::string> partition_qos{};
};

/// `assoc_mgr`: scontrol -o show assoc_mgr flags=assoc,qos. `partitions`: scontrol -o show
/// partition. What is not understood sets no limit.
[[nodiscard]] Limits parse_limits(std::string_view assoc_mgr, std::string_view partitions);

/// True if `config`, which scontrol show config printed, says that limits are enforced.
[[nodiscard]] bool enforces_limits(std::string_view config);

/// A job that holds something (it runs or may start), or that waits for our decision.
struct LimitedJob {
  const JobRow* row = nullptr;
  int64_t gpus = 0;
  bool holds = false;
};

/// Why waiting jobs would not start, for users, by id. In the order of `jobs`, as many as a limit
/// lets run together are not named.
[[nodiscard]] std::map<std::string, std::string> limits_reached(
    const Limits& limits, const std::vector<LimitedJob>& jobs);

}  // namespace goban::live::engine::slurm
