// A population of jobs with exact quotas: how many jobs of each kind there are and how long they
// run is stratified, only who submits which job when is left to chance. Jobs come in bursts: one
// user submits several alike within minutes, as arrays and parameter sweeps do.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "study/history/generate/duration_law.hpp"
#include "study/history/generate/output.hpp"
#include "study/history/generate/samplers.hpp"

namespace goban::study::history {

/// Relative rates of arrival by hour of the day and day of the week (Monday first).
struct ArrivalCycle {
  std::array<double, 24> hours{};
  std::array<double, 7> weekdays{};
  int32_t first_weekday = 0;  ///< of the period's first day; Monday = 0
  int32_t days = 1;           ///< length of the period
};

/// Jobs whose durations follow one law.
struct Stratum {
  const DurationLaw* law = nullptr;
  /// The shortest and longest possible duration occur, each once; the law is of the others.
  bool extremes = false;
};

/// Jobs that are alike but for their durations.
struct JobGroup {
  uint32_t stratum = 0;
  int64_t jobs = 0;
  int64_t burst_most = 1;  ///< jobs of a burst at most
};

struct JobDraft {
  int64_t submit_ms = 0;
  float score = 0;  ///< its rank in the stratum tells the duration
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
  /// P(a burst has k jobs or more) = k^-burst_exponent.
  double burst_exponent = 1.3;
  /// Correlation of the (normal) scores of two jobs of one burst.
  double burst_correlation = 0.6;
};

/// Jobs in no order, without limits. `progress` counts jobs, from 0 to 2 for each.
[[nodiscard]] std::vector<JobDraft> draft_population(const PopulationPlan& plan,
                                                     base::Random& random,
                                                     const WorkProgress& progress);

/// What users ask for.
struct LimitRules {
  std::vector<int32_t> max_s{};  ///< by group: the longest limit allowed
  int32_t default_s = 3'600;
  /// Of the jobs within the default, those whose user does not ask for anything else.
  double default_share = 0.5;
  /// Jobs that run into their limit. Their durations are moved down, by less than 5 %, to the
  /// customary limit below plus a few seconds, so that no customary limit is crossed.
  int64_t exceeded = 0;
};

/// Gives every job a limit not below its duration, except those that exceed it.
void give_limits(std::vector<JobDraft>& jobs, const LimitRules& rules, base::Random& random);

/// By submission; those at the same time keep their order.
void sort_by_submission(std::vector<JobDraft>& jobs);

}  // namespace goban::study::history
