// The shares of time that Gavel's policies give to jobs: exact, deterministic solutions of their
// programs (Gavel: policies; Shockwave: artifact, docs/studies/rivals.md). Pure functions.
//
// All of them keep 0 <= x <= 1 and sum of GPUs * x <= capacity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace goban::study::rivals {

/// The jobs of one computation. The vectors are of equal length; a policy reads what it needs.
struct ShareProblem {
  int32_t capacity = 0;          ///< GPUs of the cluster
  std::vector<double> gpus;      ///< of each job
  std::vector<double> rate;      ///< steps per second
  std::vector<double> left;      ///< steps to do; may be negative
  std::vector<double> waited_s;  ///< since submission
  std::vector<double> told_s;    ///< time that an equal share would have taken so far
  std::vector<double> alone;     ///< steps per second with an equal share
};

/// Each job the same number of GPUs on average, at most 1 of time (gandiva_fair).
[[nodiscard]] std::vector<double> equal_shares(const ShareProblem& problem);
/// Maximises the least GPUs * x (max_min_fairness).
[[nodiscard]] std::vector<double> max_min_shares(const ShareProblem& problem);
/// Maximises the sum of rate * x (max_sum_throughput_perf); ties to the lower id.
[[nodiscard]] std::vector<double> max_throughput_shares(const ShareProblem& problem);
/// Bisects the least time in which all steps can be done (min_total_duration), with the published
/// bounds and width. Many x do; these are the analytic centre of all of them, since the published
/// program's solver returns a point of the interior as well.
[[nodiscard]] std::vector<double> min_duration_shares(const ShareProblem& problem);

/// The least ratio r = (waited + left / (rate x)) / (told + left / alone) of the worst job, and the
/// least x that it needs; 0 for jobs with nothing left (finish_time_fairness, themis).
struct FairRatio {
  double ratio = 0;
  std::vector<double> shares;
};
[[nodiscard]] FairRatio fair_ratio_shares(const ShareProblem& problem);

/// Machines by least sum of completion times (allox). `before`: the shares of the last computation,
/// 0 for new jobs. Jobs that are first on their machine get 1 / GPUs, the others keep theirs.
[[nodiscard]] std::vector<double> allox_shares(const ShareProblem& problem,
                                               std::span<const double> before);

}  // namespace goban::study::rivals
