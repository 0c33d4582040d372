// Service metrics of jobs and users that share GPUs: service targets, slowdowns, fairness.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/knowledge/energy/energy_meter.hpp"
#include "core/model/job_history.hpp"
#include "study/results/sharing_recorder.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::results {

/// Of the counted jobs. Slowdown of a job: its bounded slowdown (account_metrics.hpp), based on JCT
/// / duration alone at score 1. A target is missed if the job ended too late or was killed.
struct ServiceMetrics {
  int64_t deadline_jobs = 0;  ///< jobs that have a deadline
  int64_t deadline_misses = 0;
  int64_t slowdown_misses = 0;        ///< of jobs with max_slowdown; by JCT / duration
  int64_t wait_misses = 0;            ///< of jobs with max_wait_s
  std::optional<double> avg_epoch_s;  ///< time holding resources / epochs; none: no epochs known
  double avg_slowdown = 0;
  double p99_slowdown = 0;
  double worst_user_slowdown = 0;  ///< highest average of a user
  std::string worst_user;
  /// Jain's index of the users' average slowdowns, or of the jobs' if there is one user: 1 = all
  /// equal.
  double jain_index = 1;
  int64_t undo_count = 0;
  int64_t moves = 0;                                        ///< of running jobs to other GPUs
  int64_t broke_beside = 0;                                 ///< failures of jobs that shared GPUs
  std::array<int64_t, kNumPredictionLevels> predictions{};  ///< as in SharingRecorder
};

/// `sharing` may be null: sharing was not recorded.
[[nodiscard]] ServiceMetrics measure_service(const core::model::JobHistory& history,
                                             const simulator::SimulationResult& result,
                                             const SharingRecorder* sharing,
                                             base::TimeNs counted_from_ns = 0);

/// Of the whole run, including fillers and warm-up.
struct EnergyMetrics {
  std::array<double, core::knowledge::kNumAccountings>
      kwh{};            ///< of the cluster, by core::knowledge::EnergyAccounting
  double jobs_kwh = 0;  ///< energy of the history's jobs
  double avg_active_nodes = 0;
};
[[nodiscard]] EnergyMetrics energy_metrics(const core::knowledge::EnergyAccount& account,
                                           size_t num_jobs);

}  // namespace goban::study::results
