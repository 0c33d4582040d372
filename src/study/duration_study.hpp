// How well run times can be predicted on a site: its history is replayed in the order of
// submission, and each job is predicted from the runs that had ended by then.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/knowledge/durations/duration_forecast.hpp"
#include "core/model/job_history.hpp"

namespace goban::study {

/// Errors of the predictions of one rule. Run times and predictions below 10 s count as 10 s.
struct RuleErrors {
  std::string rule{};         ///< "method", "limit", "last-two", "median-of-similar"
  int64_t jobs = 0;           ///< jobs that the rule could predict
  double median_ln = 0;       ///< median of |ln(predicted / run)|
  double within_2x = 0;       ///< share of the jobs
  double pinball_median = 0;  ///< mean pinball loss of ln(run) at level 0.5
  double method_pinball = 0;  ///< that of the method on the same jobs
};

/// How many run times lay inside the predicted interval between the 10 % and the 90 % quantile.
struct Coverage {
  int64_t jobs = 0;
  int64_t below = 0;
  int64_t above = 0;
  [[nodiscard]] double covered() const {
    return jobs == 0 ? 0 : static_cast<double>(jobs - below - above) / static_cast<double>(jobs);
  }
};

struct DurationStudy {
  int64_t jobs = 0;               ///< jobs considered: those with GPUs, or all if none has any
  int64_t judged = 0;             ///< the last 80 % by submission, that had an interval
  std::vector<RuleErrors> rules;  ///< the method first
  double pinball_mean = 0;        ///< of the method: mean over the levels 0.1, 0.5 and 0.9
  Coverage all{};
  /// Parts of the history by submission: 30 days, or 7 if it is shorter than 60 days.
  int64_t part_days = 30;
  std::vector<Coverage> parts{};
  /// By what was known of the user (of the account or the site where users are not named): nothing,
  /// fewer than 8 runs, more.
  std::array<Coverage, 3> by_familiarity{};
  std::array<double, 3> width{};  ///< the same: median of 90 % quantile / 10 % quantile
  /// By the runs on which the forecast rests.
  std::array<Coverage, core::knowledge::kDurationBases> by_basis{};
  struct OfUser {
    core::model::UserId user{};
    Coverage coverage{};
  };
  std::vector<OfUser> users{};  ///< with at least 100 judged jobs, the least covered first
  /// Cumulative share of the runs below each predicted quantile, by level (i + 0.5) / 21.
  std::vector<double> shares_below{};
  bool ends_known = false;  ///< starts or ends are recorded; else runs start at their submission
};

/// Cost: a few us a job.
[[nodiscard]] DurationStudy study_durations(const core::model::JobHistory& history);

}  // namespace goban::study
