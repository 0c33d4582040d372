// Metrics by account. The average over all jobs hides which accounts a policy starves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// The jobs of one account. Bounded slowdown of a job (Feitelson et al., JSSPP 1997): JCT / run
/// time at score 1, where the run time is at least 10 s and at most the walltime limit; never below
/// 1.
struct AccountMetrics {
  std::string name;
  int64_t jobs = 0;
  double avg_wait_s = 0;
  double avg_slowdown = 1;
  double gpu_hours = 0;  ///< held
};

/// The bounded slowdown of one job.
[[nodiscard]] double bounded_slowdown(const core::model::Job& job, double jct_s);

/// Of the jobs submitted from `counted_from_ns` on; by average slowdown, highest first, then by
/// name. Accounts are users if the history names no account. Empty if it names neither.
[[nodiscard]] std::vector<AccountMetrics> measure_accounts(
    const core::model::JobHistory& history, const simulator::SimulationResult& result,
    base::TimeNs counted_from_ns = 0);

}  // namespace goban::study::results
