// The back-test: how far a simulation of the site's own policy is from what the site recorded. A
// gain that the same simulation predicts is compared with this error (docs/backtest.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/job_history.hpp"
#include "study/results/run_metrics.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

struct BacktestOptions {
  /// Jobs submitted less than this time after the first one are simulated but not compared.
  base::TimeNs warmup_ns = 0;
  uint64_t seed = 1;
  int32_t resamples = 1000;  ///< of the bootstrap
};

/// A mean as recorded and as simulated, and the error (simulated - recorded) / recorded with its
/// 95 % confidence interval, from a bootstrap over whole days. No error if the recorded mean is 0
/// but the simulated one is not; no interval if that happens in a resample.
struct MeanError {
  double recorded_s = 0;
  double simulated_s = 0;
  std::optional<double> relative;
  std::optional<double> low;
  std::optional<double> high;

  /// The threshold for claiming a gain: the maximum absolute value of error and interval.
  [[nodiscard]] std::optional<double> bound() const;
};

/// Wait is the time from submission to the first start; JCT = finish - submit. An unknown recorded
/// finish is replaced by recorded start + duration. The error of a job is simulated - recorded
/// wait.
struct Backtest {
  std::string policy;
  int64_t jobs = 0;           ///< compared
  int64_t without_start = 0;  ///< excluded: the record has no start
  int64_t in_warmup = 0;      ///< excluded
  int64_t days = 0;           ///< blocks of the bootstrap: days with a compared job
  MeanError wait;
  MeanError jct;
  double error_abs_mean_s = 0;
  double error_abs_p50_s = 0;
  double error_abs_p90_s = 0;
  double error_mean_s = 0;      ///< the bias: positive if simulated waits are too long
  double within_1min = 0;       ///< share of jobs with an absolute error of at most this
  double within_5min = 0;       ///< share of jobs with an absolute error of at most this
  double within_10percent = 0;  ///< the same, relative to the recorded wait
  /// Spearman's, with mean ranks for ties; none if all waits are equal on one side.
  std::optional<double> rank_correlation;
};

/// Compares a run under `policy` with history.recorded. Cost: n log n, and resamples x days.
[[nodiscard]] Backtest backtest(const std::string& policy, const core::model::JobHistory& history,
                                const simulator::SimulationResult& result,
                                const BacktestOptions& options);

/// A run compared with the reference run: 0.1 = 10 % less. `error` and `claimed` are set if there
/// was a back-test; a gain is claimed if its absolute value exceeds the error.
struct Gain {
  double gain = 0;
  std::optional<double> error;
  bool claimed = false;
};

/// Gain in mean JCT, and in mean wait. A reference of 0 gives a gain of 0.
[[nodiscard]] Gain jct_gain(const RunMetrics& run, const RunMetrics& reference,
                            const std::optional<Backtest>& test);
[[nodiscard]] Gain wait_gain(const RunMetrics& run, const RunMetrics& reference,
                             const std::optional<Backtest>& test);

}  // namespace goban::study::results
