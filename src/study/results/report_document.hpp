// The document of a simulation report: all data of the page as one JSON text. Its schema is in
// docs/report.md; increase kSchemaVersion when it changes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/job_history.hpp"
#include "core/policy/knowledge.hpp"
#include "study/results/energy_recorder.hpp"
#include "study/results/note.hpp"
#include "study/results/pair_recorder.hpp"
#include "study/results/run_recorder.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::study::results {

inline constexpr int kSchemaVersion = 1;

/// One policy's run.
struct ReportRun {
  std::vector<std::pair<std::string, std::string>> settings;  ///< name and value
  const simulator::SimulationResult* result = nullptr;
  RunRecorder* recorder = nullptr;
  EnergyRecorder* energy = nullptr;     ///< null: not metered
  const PairRecorder* pairs = nullptr;  ///< null: sharing was not recorded
};

struct ReportInput {
  std::string title;
  std::string goban_version;
  std::vector<std::pair<std::string, std::string>> settings;  ///< of all runs
  std::vector<Note> notes;
  Comparison comparison;
  TimeNs warmup_ns = 0;  ///< as in measure()
  const core::model::Cluster* cluster = nullptr;
  const core::model::JobHistory* history = nullptr;
  const HeatRows* rows = nullptr;
  const core::policy::SiteKnowledge* knowledge = nullptr;  ///< null: none was given
  std::vector<ReportRun> runs;                             ///< in the order of the comparison
};

/// The document. Brings the bins of all recorders to one width. Safe inside a <script> element.
[[nodiscard]] std::string report_document(const ReportInput& input);

}  // namespace goban::study::results
