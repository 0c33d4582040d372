// How well each account was served: the average of a policy hides whom it starves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// The jobs of one account. Bounded slowdown of a job (Feitelson et al., JSSPP 1997): its JCT over
/// its run time at score 1, at least 10 s and at most its walltime limit; never below 1.
struct AccountMetrics {
  std::string name;
  int64_t jobs = 0;
  double avg_wait_s = 0;
  double avg_slowdown = 1;
  double gpu_hours = 0;  ///< held
};

/// The slowdown of one job, as above.
[[nodiscard]] double bounded_slowdown(const core::model::Job& job, double jct_s);

/// Of the jobs submitted from `counted_from_ns` on; by average slowdown, worst first, then by name.
/// Accounts are users if the history names no account. Empty if it names neither.
[[nodiscard]] std::vector<AccountMetrics> measure_accounts(
    const core::model::JobHistory& history, const simulator::SimulationResult& result,
    base::TimeNs counted_from_ns = 0);

}  // namespace goban::study::results
