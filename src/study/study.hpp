// A study: several policies compared over one job history. What `goban simulate` does.
#pragma once

#include <vector>

#include "base/progress.hpp"
#include "study/inputs.hpp"
#include "study/results/simulate_report.hpp"
#include "study/runs.hpp"
#include "study/study_options.hpp"

namespace goban::study {

class Study {
 public:
  /// Checks the options and reads all inputs. Errors: Usage if the options contradict each other or
  /// name no such policy; those of load_inputs().
  [[nodiscard]] static base::Result<Study> load(StudyOptions options, base::Progress& progress);

  /// Runs all policies, compares them, and writes the files and the report that the options
  /// request. Errors: those of simulate(), compare_runs() and of writing; Failed if cancelled.
  [[nodiscard]] base::Result<results::Comparison> run(base::Progress& progress) const;

  [[nodiscard]] const StudyOptions& options() const { return options_; }
  [[nodiscard]] const Inputs& inputs() const { return inputs_; }
  /// Notes for the reader of the results.
  [[nodiscard]] const std::vector<results::Note>& notes() const { return notes_; }

 private:
  Study(StudyOptions options, std::vector<core::policy::Composition> policies, Inputs inputs);

  StudyOptions options_;
  std::vector<core::policy::Composition> policies_;
  Inputs inputs_;
  std::vector<results::Note> notes_;
};

}  // namespace goban::study
