// The HTML report of a study: records the data of its figures, and writes the file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "study/results/pair_recorder.hpp"
#include "study/results/report_document.hpp"
#include "study/runs.hpp"

namespace goban::study {

/// Does nothing if no report was requested.
class StudyReport {
 public:
  /// `inputs` must outlive this object.
  StudyReport(const StudyOptions& options, const Inputs& inputs, std::vector<results::Note> notes);

  /// Records the next run for the report; its own observer stays in place.
  void watch(simulator::BatchRun& run);

  /// Writes the file; the runs are in the order of watch(). Errors: Failed if it cannot be written.
  [[nodiscard]] base::Status write(const results::Comparison& comparison, const FinishedRuns& runs);

 private:
  std::string path_;
  results::HeatRows rows_;
  results::ReportInput report_;
  std::vector<std::unique_ptr<results::RunRecorder>> recorders_;
  std::vector<std::unique_ptr<results::PairRecorder>> pairs_;  ///< empty without site knowledge
};

}  // namespace goban::study
