// Shockwave's round simulator with Gavel's policies, decision by decision (Shockwave: artifact,
// docs/studies/rivals.md, which states the quirks that are kept).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "study/rivals/decisions.hpp"
#include "study/rivals/rival_files.hpp"

namespace goban::study::rivals {

enum class GavelPolicy : uint8_t {
  GandivaFair,
  MaxMinFairness,
  MaxSumThroughput,
  MinTotalDuration,
  FinishTimeFairness,
  Allox,
};

struct ShockwaveInputs {
  std::vector<ShockwaveJob> jobs;
  RateTable rates;
  BatchPhases batch_sizes;
  int32_t num_gpus = 32;
  /// Shares to use instead of one's own solutions; not for gandiva_fair, finish_time_fairness and
  /// allox.
  std::optional<ShareRecord> shares{};
};

/// What real GPUs do otherwise than the published simulation assumes.
struct RealGpus {
  std::vector<double> restart_s{};  ///< a restart costs one of these, drawn alike; empty: 20 s
  /// By job: its true rate relative to that of the table, which the policy goes on believing;
  /// empty: 1.
  std::vector<double> speed{};
  uint64_t seed = 1;  ///< of the draws
};

/// Times in seconds, by job.
struct ShockwaveRun {
  std::vector<Decision> rounds;
  std::vector<double> start_s;  ///< first round
  std::vector<double> jct_s;
  std::vector<double> alone_s;  ///< run time alone, with its batch sizes, without restarts
  /// Completion time relative to an equal share of the cluster, rounded to 5 digits.
  std::vector<double> finish_time_fairness;
  std::vector<ShareSet> shares;  ///< all computations
  double makespan_s = 0;
  double mean_jct_s = 0;
  double utilization = 0;  ///< mean over the GPUs of busy time / makespan, each rounded to 5 digits
};

/// Replays the trace on servers of one GPU in rounds of 120 s. Errors: BadData for a model or rate
/// that is not known, a job larger than the cluster, a record of shares that does not fit; Failed
/// if a job never ends, or `real` does not fit the jobs.
[[nodiscard]] base::Result<ShockwaveRun> run_shockwave(const ShockwaveInputs& inputs,
                                                       GavelPolicy policy,
                                                       const RealGpus& real = {});

}  // namespace goban::study::rivals
