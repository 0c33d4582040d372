// The metrics of one simulated run, as `goban simulate` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/results/account_metrics.hpp"
#include "study/results/service_metrics.hpp"
#include "study/simulator/simulation.hpp"
#include "study/simulator/start_observer.hpp"

namespace goban::study::results {

/// Jobs whose speed by number of GPUs is known.
struct ElasticMetrics {
  int64_t jobs = 0;
  int64_t resizes = 0;
  int64_t resized = 0;       ///< jobs that were resized
  int64_t interpolated = 0;  ///< jobs that ran at a speed that was not measured
};

/// One run. JCT = finish - submit; wait = JCT - time holding resources. Jobs that were killed at
/// their walltime limit count with the time at which they ended. Fillers count in `gpu_occupancy`
/// only. Warm-up jobs are excluded from jobs, JCT, wait, preemptions and timed_out; all other
/// members cover the whole run.
struct RunMetrics {
  std::string policy;
  int64_t jobs = 0;
  int64_t rejected = 0;
  double avg_jct_s = 0;
  double p50_jct_s = 0;
  double p99_jct_s = 0;
  double avg_wait_s = 0;
  double makespan_s = 0;          ///< last finish - first submit
  double gpu_occupancy = 0;       ///< time average of GPUs held / GPUs over the makespan
  double gpu_hours_consumed = 0;  ///< GPUs x time held
  double gpu_hours_ideal = 0;     ///< GPUs x work at score 1 and penalty 1
  double goodput = 0;             ///< ideal / (GPUs x makespan)
  int64_t preemptions = 0;
  double wall_s = 0;
  int64_t timed_out = 0;
  double gpu_hours_lost = 0;        ///< work lost to node failures
  double gpu_hours_restarting = 0;  ///< held without progress: restart costs
  simulator::PromiseFigures promises{};
  AccountMetrics worst_account;  ///< highest average slowdown; without a name if there is none
  std::optional<EnergyMetrics> energy;                 ///< only with a power model
  std::optional<ServiceMetrics> service;               ///< only if requested
  std::optional<simulator::StartCoverage> starts;      ///< only if requested
  std::optional<ElasticMetrics> elastic{};             ///< only if a job is elastic
  std::optional<simulator::StagingFigures> staging{};  ///< only if jobs stage data
};

/// Jobs submitted less than `warmup_ns` after the first one are the warm-up.
[[nodiscard]] RunMetrics measure(const std::string& policy, const core::model::JobHistory& history,
                                 uint32_t cluster_gpus, const simulator::SimulationResult& result,
                                 base::TimeNs warmup_ns = 0);

/// Percentile with linear interpolation between order statistics; `percent` in [0, 100].
/// Reorders `values`; 0 if there are none.
[[nodiscard]] double percentile(std::vector<double>& values, double percent);

}  // namespace goban::study::results
