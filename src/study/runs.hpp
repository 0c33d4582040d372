// The runs of a study, one per policy: settings before, metrics after.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "study/inputs.hpp"
#include "study/lab/plugin.hpp"
#include "study/results/energy_recorder.hpp"
#include "study/results/run_metrics.hpp"
#include "study/results/sharing_recorder.hpp"
#include "study/results/simulate_report.hpp"
#include "study/simulator/batch.hpp"
#include "study/simulator/start_observer.hpp"
#include "study/study_options.hpp"

namespace goban::study {

/// One run per policy, ready to start. Refers to options and inputs, which must outlive it.
struct RunPlan {
  RunPlan(const StudyOptions& options, const Inputs& inputs,
          const std::vector<core::policy::Composition>& policies,
          const std::atomic<bool>* cancel = nullptr);
  ~RunPlan();
  RunPlan(const RunPlan&) = delete;
  RunPlan& operator=(const RunPlan&) = delete;

  core::knowledge::PmScores ideal;
  std::vector<core::knowledge::LocalityPenalties> penalties;
  std::vector<simulator::BatchRun> runs;  ///< add observers before running them

  /// Lets policies of plugins decide. Call it after all observers were added, before the runs.
  void attach_plugins();

 private:
  struct PluginRun;
  const StudyOptions& options_;
  const Inputs& inputs_;
  std::vector<lab::Plugin> plugins_;
  std::vector<std::unique_ptr<PluginRun>> plugin_runs_;
};

/// Runs in the order of the policies: their recorders, then their results and metrics.
struct FinishedRuns {
  std::vector<results::RunMetrics> metrics;
  std::vector<simulator::BatchResult> simulated;
  std::vector<std::unique_ptr<results::EnergyRecorder>> energy;    ///< empty without a power model
  std::vector<std::unique_ptr<results::SharingRecorder>> sharing;  ///< empty if not requested

  /// By run; null where nothing can be forecast. Empty if not requested.
  std::vector<std::unique_ptr<simulator::StartObserver>> starts;

  /// Attaches the recorders that the metrics of the next run need; its own observer stays in place.
  void watch(const StudyOptions& options, const Inputs& inputs, simulator::BatchRun& run);
  /// Appends the metrics of the next finished run; returns the source of its per-job columns.
  results::JobColumns measure(const StudyOptions& options, const Inputs& inputs,
                              const std::string& policy);
};

}  // namespace goban::study
