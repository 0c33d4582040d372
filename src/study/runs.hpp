// The runs of a study, one a policy: their settings before, their figures after.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "study/inputs.hpp"
#include "study/results/energy_recorder.hpp"
#include "study/results/run_metrics.hpp"
#include "study/results/sharing_recorder.hpp"
#include "study/results/simulate_report.hpp"
#include "study/simulator/batch.hpp"
#include "study/study_options.hpp"

namespace goban::study {

/// One run a policy, ready to start. Refers to the inputs, which outlive it.
struct RunPlan {
  RunPlan(const StudyOptions& options, const Inputs& inputs,
          const std::vector<core::policy::Composition>& policies,
          const std::atomic<bool>* cancel = nullptr);
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  core::knowledge::PmScores ideal;
  std::vector<core::knowledge::LocalityPenalties> penalties;
  std::vector<simulator::BatchRun> runs;  ///< add observers before running them
};

/// Runs in the order of the policies, while they go on and when they are finished.
struct FinishedRuns {
  std::vector<results::RunMetrics> metrics;
  std::vector<simulator::BatchResult> simulated;
  std::vector<std::unique_ptr<results::EnergyRecorder>> energy;    ///< empty without watts
  std::vector<std::unique_ptr<results::SharingRecorder>> sharing;  ///< empty if not asked for

  /// Records of the next run what its figures need; its own observer stays in place.
  void watch(const StudyOptions& options, const Inputs& inputs, simulator::BatchRun& run);
  /// Appends the figures of the next finished run; returns the source of its per-job columns.
  results::JobColumns measure(const StudyOptions& options, const Inputs& inputs,
                              const std::string& policy);
};

}  // namespace goban::study
