// goban simulate --html: watches the runs and writes the report that a browser shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/study/simulate_inputs.hpp"
#include "cli/study/simulate_options.hpp"
#include "study/results/energy_recorder.hpp"
#include "study/results/pair_recorder.hpp"
#include "study/results/report_document.hpp"
#include "study/results/sharing_recorder.hpp"
#include "study/simulator/batch.hpp"

namespace goban::cli {

/// Finished runs in the order of the policies.
struct FinishedRuns {
  std::vector<study::results::RunMetrics> metrics;
  std::vector<study::simulator::BatchResult> results;
  std::vector<std::unique_ptr<study::results::EnergyRecorder>> energy;  ///< empty without watts
  std::vector<std::unique_ptr<study::results::SharingRecorder>>
      sharing;  ///< empty if not asked for
};

/// Without a path it does nothing.
class SimulateHtml {
 public:
  /// `inputs` outlives this.
  SimulateHtml(const SimulateOptions& options, const SimulateInputs& inputs,
               std::vector<study::results::Note> notes);

  /// Lets the next run be watched; its own observer stays in place.
  void watch(study::simulator::BatchRun& run);

  /// Writes the file; the runs are in the order of watch(). Errors: Failed if it cannot be written.
  [[nodiscard]] base::Status write(const study::results::Comparison& comparison,
                                   const FinishedRuns& runs);

 private:
  std::string path_;
  study::results::HeatRows rows_;
  study::results::ReportInput report_;
  std::vector<std::unique_ptr<study::results::RunRecorder>> recorders_;
  std::vector<std::unique_ptr<study::results::PairRecorder>> pairs_;  ///< empty without knowledge
};

}  // namespace goban::cli
