// Statistics of a history: usage by user, job sizes, durations, waits, arrivals.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/job_history.hpp"

namespace goban::study::history {

/// The quantiles of SampleQuantiles, in percent.
inline constexpr std::array kQuantilesPercent = {0, 10, 25, 50, 75, 90, 99, 100};

/// Statistics of a sample; quantiles between two values are interpolated linearly (type 7 of
/// Hyndman and Fan, as in R and NumPy).
struct SampleQuantiles {
  int64_t count = 0;
  double mean = 0;
  double sd = 0;  ///< of a sample (n - 1); 0 for one value
  std::array<double, kQuantilesPercent.size()> quantiles{};
};

/// Jobs and GPU-hours (num_gpus x recorded duration) of one user, account or partition.
struct Share {
  std::string name;
  int64_t jobs = 0;
  double gpu_hours = 0;
};

/// The users, accounts or partitions; jobs without a name are excluded.
struct Consumers {
  int64_t count = 0;
  std::vector<Share> top;  ///< by GPU-hours, then by jobs, descending; at most kTop
  /// Share of the GPU-hours that belongs to the top 6 % by GPU-hours, at least one of them.
  double top_6_percent_share = 0;
  double gini = 0;  ///< of the GPU-hours: 0 = all equal, towards 1 = one has all
  static constexpr size_t kTop = 5;
};

struct SizeShare {
  int32_t num_gpus = 0;
  int64_t jobs = 0;
  double gpu_hours = 0;
};

struct HistorySummary {
  int64_t jobs = 0;
  int64_t cpu_jobs = 0;  ///< of these, without GPUs
  double gpu_hours = 0;
  base::TimeNs first_submit_ns = 0;
  base::TimeNs last_submit_ns = 0;
  bool unix_times = false;  ///< submit times look like times since 1970
  Consumers users;
  Consumers accounts;
  Consumers partitions;
  std::vector<SizeShare> sizes;  ///< by num_gpus
  /// Durations, waits and limits below are of the jobs with GPUs; of all jobs if none has any.
  SampleQuantiles duration_s;
  SampleQuantiles wait_s;             ///< of jobs whose start is recorded
  std::array<int64_t, 6> ends{};      ///< by RecordedEnd
  SampleQuantiles walltime_limit_s;   ///< of jobs with a limit
  SampleQuantiles request_accuracy;   ///< duration / limit, of jobs with a limit
  std::array<int64_t, 24> by_hour{};  ///< submissions by hour of the day; UTC if unix_times
  /// By day of the week, Monday first; without unix_times by day of the history modulo 7.
  std::array<int64_t, 7> by_weekday{};
  /// Mean number of GPUs that the jobs would keep busy: GPU-seconds per second between the first
  /// and the last submission. None if all were submitted at once.
  std::optional<double> offered_gpus;
};

/// Cost: one pass, and sorting of the durations.
[[nodiscard]] HistorySummary summarise(const core::model::JobHistory& history);

/// Empty samples have count 0; all other members are 0.
[[nodiscard]] SampleQuantiles quantiles_of(std::vector<double> values);

}  // namespace goban::study::history
