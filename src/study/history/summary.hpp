// What a history holds, in figures: who used how much, job sizes, durations, waits, arrivals.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/job.hpp"

namespace goban::study::history {

/// The quantiles of a Distribution, in percent.
inline constexpr std::array kQuantilesPercent = {0, 10, 25, 50, 75, 90, 99, 100};

/// Of a sample; quantiles between two values are interpolated linearly (type 7 of Hyndman and Fan,
/// as in R and NumPy).
struct Distribution {
  int64_t count = 0;
  double mean = 0;
  double sd = 0;  ///< of a sample (n - 1); 0 for one value
  std::array<double, kQuantilesPercent.size()> quantiles{};
};

/// Jobs and GPU-hours (num_gpus x duration as recorded) that belong together.
struct Share {
  std::string name;
  int64_t jobs = 0;
  double gpu_hours = 0;
};

/// The users, accounts or partitions; jobs that name none are not in here.
struct Consumers {
  int64_t count = 0;
  std::vector<Share> top;  ///< most GPU-hours first (then most jobs), at most kTop
  /// Share of the GPU-hours that belongs to the top 6 % by GPU-hours, at least one.
  double top_6_percent_share = 0;
  double gini = 0;  ///< of the GPU-hours: 0 = all alike, towards 1 = one has all
  static constexpr size_t kTop = 5;
};

struct SizeShare {
  int32_t num_gpus = 0;
  int64_t jobs = 0;
  double gpu_hours = 0;
};

struct Summary {
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
  /// Durations, waits and requests below are of the jobs with GPUs; of all if none has any.
  Distribution duration_s;
  Distribution wait_s;                ///< of jobs whose start is recorded
  std::array<int64_t, 6> ends{};      ///< by RecordedEnd
  Distribution walltime_limit_s;      ///< of jobs with a limit
  Distribution request_accuracy;      ///< duration / limit, likewise
  std::array<int64_t, 24> by_hour{};  ///< submissions by hour of the day; UTC if unix_times
  /// By day of the week, Monday first; without unix_times by day of the history modulo 7.
  std::array<int64_t, 7> by_weekday{};
  /// Mean number of GPUs the jobs would keep busy: GPU-seconds a second between the first and the
  /// last submission. None if all were submitted at once.
  std::optional<double> offered_gpus;
};

/// Cost: one pass and some sorting of the durations.
[[nodiscard]] Summary summarise(const core::model::JobHistory& history);

/// Empty samples have count 0 and nothing else.
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

}  // namespace goban::study::history
