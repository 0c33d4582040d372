// Predicted run times of the site's jobs, from those that ended before: its history, and what has
// ended since. A part of the controller's state. Decisions rest on what was journaled with each job
// (job::PredictedRun) only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "base/name_table.hpp"
#include "core/knowledge/durations/open_forecasts.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::controller {

/// An ended job of the site's history.
struct EarlierJob {
  job::JobSpec spec{};  ///< owner, account, partition, name or model, GPUs and limit
  TimeNs submit_ns = 0;
  TimeNs end_ns = 0;
  TimeNs held_ns = 0;  ///< time it held its resources, over all runs
};

class Forecasts {
 public:
  /// The names in what was learned, in order of appearance.
  struct Names {
    base::NameTable users{};
    base::NameTable accounts{};
    base::NameTable partitions{};
    base::NameTable runs{};  ///< models, job names or programs
  };

  /// What is predicted of a job that is submitted now; also the forecast itself.
  [[nodiscard]] core::knowledge::DurationForecast forecast(const job::JobSpec& spec) const;
  /// One for each job, or one for all if they are equal. Empty: nothing is predicted yet.
  [[nodiscard]] std::vector<job::PredictedRun> predict(const std::vector<job::JobSpec>& jobs) const;
  void submitted(const LiveJob& job);
  /// Learns from the run times of a job that has ended. Those that the site cut short say nothing.
  void ended(const LiveJob& job);

  /// Too few runs are known for a prediction: the site's history may have more.
  [[nodiscard]] bool needs_past() const;
  /// Begins anew from the site's history and the jobs that are known here. `accounted` jobs of the
  /// book are in the history.
  void teach(const std::vector<EarlierJob>& past, const JobBook& book);

  /// Adds the field `forecasts` to a snapshot.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  [[nodiscard]] core::knowledge::DurationTraits known_traits(const job::JobSpec& spec) const;
  [[nodiscard]] core::knowledge::DurationTraits traits(const job::JobSpec& spec);

  Names names_;
  core::knowledge::OpenForecasts open_;
};

}  // namespace goban::live::controller
