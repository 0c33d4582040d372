// A population of jobs with exact quotas. The number of jobs of each kind and their durations are
// stratified; only the assignment of jobs to users and times is random. Jobs come in bursts: one
// user submits several similar jobs within minutes, as arrays and parameter sweeps do.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "study/history/generate/duration_law.hpp"
#include "study/history/generate/output.hpp"
#include "study/history/generate/samplers.hpp"

namespace goban::study::history {

inline constexpr int64_t kHour_ms = base::kHour / base::kMillisecond;
inline constexpr int64_t kDay_ms = base::kDay / base::kMillisecond;

/// Relative rates of arrival by hour of the day and day of the week (Monday first).
struct ArrivalCycle {
  std::array<double, 24> hours{};
  std::array<double, 7> weekdays{};
  int32_t first_weekday = 0;  ///< of the period's first day; Monday = 0
  int32_t days = 1;           ///< length of the period
};

/// Jobs whose durations follow one distribution.
struct Stratum {
  const DurationLaw* law = nullptr;
  /// The minimum and maximum duration occur once each; `law` covers the others.
  bool extremes = false;
};

/// Jobs that differ only in their durations.
struct JobGroup {
  uint32_t stratum = 0;
  int64_t jobs = 0;
  int64_t burst_most = 1;  ///< maximum number of jobs per burst
};

struct JobDraft {
  int64_t submit_ms = 0;
  float score = 0;  ///< its rank within the stratum determines the duration
  uint32_t group = 0;
  int32_t duration_s = 0;
  int32_t limit_s = 0;
  uint16_t user = 0;
  uint16_t model = 0;
};

struct PopulationPlan {
  std::vector<Stratum> strata{};
  std::vector<JobGroup> groups{};
  std::vector<int64_t> user_jobs{};  ///< quotas by user; they add up to the jobs of the groups
  std::vector<double> models{};      ///< weights; a user has a favourite among them
  ArrivalCycle arrivals{};
  /// P(a burst has at least k jobs) = k^-burst_exponent.
  double burst_exponent = 1.3;
  /// Correlation of the (normal) scores of two jobs of one burst.
  double burst_correlation = 0.6;
};

/// Jobs in no particular order, without limits. `progress` counts two units per job.
[[nodiscard]] std::vector<JobDraft> draft_population(const PopulationPlan& plan,
                                                     base::Random& random,
                                                     const WorkProgress& progress);

/// The walltime limits that users request.
struct LimitRules {
  std::vector<int32_t> max_s{};  ///< by group: the maximum limit allowed
  int32_t default_s = 3'600;
  /// Share of the jobs not longer than the default whose user requests the default.
  double default_share = 0.5;
  /// Number of jobs that reach their limit. Their durations are reduced, by less than 5 %, to the
  /// next lower customary limit plus a few seconds, so that no customary limit is crossed.
  int64_t exceeded = 0;
};

/// Gives every job a limit not below its duration, except those that exceed it.
void give_limits(std::vector<JobDraft>& jobs, const LimitRules& rules, base::Random& random);

/// By submission time; equal times keep their order.
void sort_by_submission(std::vector<JobDraft>& jobs);

}  // namespace goban::study::history
