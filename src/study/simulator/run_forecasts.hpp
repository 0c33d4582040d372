// Predicted run times in a simulation, from the runs that have ended in it so far: what a live
// scheduler could know, and never the future.
#pragma once

#include "core/knowledge/durations/open_forecasts.hpp"
#include "core/model/job_history.hpp"

namespace goban::study::simulator {

/// What is known of a job when it is submitted. Unnamed users and the like are unknown.
[[nodiscard]] core::knowledge::DurationTraits duration_traits(
    const core::model::JobHistory& history, const core::model::JobRequest& request);

class RunForecasts {
 public:
  /// `history` must outlive this object.
  explicit RunForecasts(const core::model::JobHistory& history) : history_(&history) {}

  /// The forecast of a job that is submitted now; all unknown before enough runs have ended.
  [[nodiscard]] core::model::RunForecast submitted(core::model::JobId job,
                                                   const core::model::JobRequest& request) {
    return forecasts_.submitted(job, duration_traits(*history_, request)).for_core();
  }
  /// The job ended after it had held its resources for `run_s` in total. Call in order of the ends.
  void ended(core::model::JobId job, double run_s) { forecasts_.ended(job, run_s); }

 private:
  const core::model::JobHistory* history_;
  core::knowledge::OpenForecasts forecasts_;
};

}  // namespace goban::study::simulator
