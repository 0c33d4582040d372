// goban simulate --html: watches the runs and writes the report that a browser shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/simulate_inputs.hpp"
#include "cli/simulate_options.hpp"
#include "engine/simulated/batch.hpp"
#include "report/energy_recorder.hpp"
#include "report/pair_recorder.hpp"
#include "report/report_document.hpp"
#include "report/sharing_recorder.hpp"

namespace goban::cli {

/// Finished runs in the order of the policies.
struct FinishedRuns {
  std::vector<report::RunMetrics> metrics;
  std::vector<engine::BatchResult> results;
  std::vector<std::unique_ptr<report::EnergyRecorder>> energy;    ///< empty without watts
  std::vector<std::unique_ptr<report::SharingRecorder>> sharing;  ///< empty if not asked for
};

/// Without a path it does nothing.
class SimulateHtml {
 public:
  /// `inputs` outlives this.
  SimulateHtml(const SimulateOptions& options, const SimulateInputs& inputs,
               std::vector<report::Note> notes);

  /// Lets the next run be watched; its own observer stays in place.
  void watch(engine::BatchRun& run);

  /// Writes the file; the runs are in the order of watch(). Errors: Failed if it cannot be written.
  [[nodiscard]] base::Status write(const report::Comparison& comparison, const FinishedRuns& runs);

 private:
  std::string path_;
  report::HeatRows rows_;
  report::ReportInput report_;
  std::vector<std::unique_ptr<report::RunRecorder>> recorders_;
  std::vector<std::unique_ptr<report::PairRecorder>> pairs_;  ///< empty without knowledge
};

}  // namespace goban::cli
