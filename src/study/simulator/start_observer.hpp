// How well start times are forecast: during a run, jobs that have to wait are forecast at their
// submission, from what a live scheduler would know then, and compared with their start.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "core/knowledge/durations/start_calibration.hpp"
#include "core/scheduler/start_forecast.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {

/// Starts of forecast jobs in and outside their 80 % interval.
struct StartCoverage {
  int64_t submitted = 0;
  int64_t waited = 0;  ///< of them, jobs that did not start at once
  int64_t judged = 0;  ///< of those, jobs that were forecast with a calibrated interval
  int64_t inside = 0;
  int64_t early = 0;
  int64_t late = 0;
  int64_t inside_raw = 0;  ///< before calibration
  double width_s = 0;      ///< median width of the intervals; those without end count as longest
  double error_ln = 0;     ///< median |ln| of actual / forecast median wait, each plus a minute
};

/// A forecast job that started.
struct ForecastStart {
  JobId job{};
  core::knowledge::StartForecastAt raw{};
  core::model::StartInterval shown{};
  bool is_calibrated = false;
  TimeNs start_ns = 0;
};

class StartObserver final : public Observer {
 public:
  /// Forecasts every third job that waits. `history` and what `site` points to outlive this; `next`
  /// observes, too, unless it is null. The simulation must make forecasts
  /// (SimulationOptions::forecasts).
  StartObserver(const core::model::JobHistory& history, core::scheduler::AheadSite site,
                Observer* next);

  void decided(const core::scheduler::Decision& decision,
               const core::scheduler::Core& core) override;
  void acted(TimeNs now, const core::model::Action& action,
             const core::scheduler::Core& core) override;
  void awake(TimeNs now, core::model::NodeId node) override;
  void job_ended(TimeNs now, JobId job, JobEnd end) override;
  void ended(TimeNs now) override;

  [[nodiscard]] StartCoverage coverage() const;
  /// In order of their starts.
  [[nodiscard]] const std::vector<ForecastStart>& starts() const { return starts_; }

 private:
  struct Open {
    core::knowledge::StartForecastAt raw{};
    core::model::StartInterval shown{};
    bool is_calibrated = false;
  };
  void forecast(TimeNs now, const core::scheduler::Core& core, const std::vector<JobId>& jobs);
  void started(JobId job, TimeNs now);

  const core::model::JobHistory& history_;
  core::scheduler::AheadSite site_;
  Observer* next_observer_;
  core::knowledge::StartCalibration calibration_;
  std::unordered_map<JobId, Open> open_;
  size_t next_job_ = 0;
  StartCoverage counts_;
  std::vector<ForecastStart> starts_;
  std::vector<double> widths_s_;
  std::vector<double> errors_ln_;
};

}  // namespace goban::study::simulator
