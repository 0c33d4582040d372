#include "study/history/generate/population.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace goban::study::history {
namespace {

using base::Random;

constexpr int64_t kReportEvery = 1 << 16;

/// One submission of several jobs of one group by one user.
struct Burst {
  uint32_t group = 0;
  uint16_t user = 0;
  int64_t jobs = 0;
};

std::vector<Burst> cut_into_bursts(const PopulationPlan& plan, Random& random) {
  std::vector<Burst> bursts;
  for (size_t group = 0; group < plan.groups.size(); ++group) {
    int64_t left = plan.groups[group].jobs;
    while (left > 0) {
      const int64_t most = std::min(plan.groups[group].burst_most, left);
      const int64_t jobs = draw_pareto(random, plan.burst_exponent, most);
      bursts.push_back({static_cast<uint32_t>(group), 0, jobs});
      left -= jobs;
    }
  }
  return bursts;
}

/// Assigns bursts to users in random order. Where a user's quota ends within a burst, the next user
/// gets the remainder.
std::vector<Burst> give_users(std::vector<Burst> bursts, const std::vector<int64_t>& user_jobs,
                              Random& random) {
  shuffle(bursts, random);
  std::vector<Burst> owned;
  owned.reserve(bursts.size() + user_jobs.size());
  size_t user = 0;
  int64_t quota = user_jobs.empty() ? 0 : user_jobs[0];
  for (Burst burst : bursts) {
    while (burst.jobs > 0) {
      while (quota == 0) {
        ++user;
        GOBAN_CHECK(user < user_jobs.size());
        quota = user_jobs[user];
      }
      const int64_t jobs = std::min(burst.jobs, quota);
      owned.push_back({burst.group, static_cast<uint16_t>(user), jobs});
      burst.jobs -= jobs;
      quota -= jobs;
    }
  }
  return owned;
}

WeightedChoice hours_of(const ArrivalCycle& cycle) {
  WeightedChoice choice;
  for (int32_t day = 0; day < cycle.days; ++day) {
    const double weekday = cycle.weekdays[static_cast<size_t>((cycle.first_weekday + day) % 7)];
    for (const double hour : cycle.hours) choice.add(weekday * hour);
  }
  return choice;
}

class Drafter {
 public:
  Drafter(const PopulationPlan& plan, Random& random, const WorkProgress& progress)
      : plan_(plan), random_(random), progress_(progress), hours_(hours_of(plan.arrivals)) {
    for (const double weight : plan.models) models_.add(weight);
    for (size_t user = 0; user < plan.user_jobs.size(); ++user) {
      favourites_.push_back(models_.empty() ? uint16_t{0} : draw_model());
    }
    for (const JobGroup& group : plan.groups) total_ += group.jobs;
  }

  std::vector<JobDraft> run() {
    jobs_.reserve(static_cast<size_t>(total_));
    for (const Burst& burst :
         give_users(cut_into_bursts(plan_, random_), plan_.user_jobs, random_)) {
      submit(burst);
    }
    give_durations();
    return std::move(jobs_);
  }

 private:
  [[nodiscard]] uint16_t draw_model() { return static_cast<uint16_t>(models_.draw(random_)); }

  /// Gaps within a burst are exponential, their mean log-uniform from 0.1 s (arrays) to ten minutes
  /// (sweeps from a script). Submissions after the end of the period wrap around to its start.
  void submit(const Burst& burst) {
    constexpr double kGapMin_ms = 100;
    constexpr double kGapSpan = 8.7;  // ln(ten minutes / 0.1 s)
    constexpr double kFavourite = 0.8;
    const int64_t period_ms = plan_.arrivals.days * kDay_ms;
    int64_t at_ms = static_cast<int64_t>(hours_.draw(random_)) * kHour_ms +
                    static_cast<int64_t>(random_.below(kHour_ms));
    const double gap_ms = kGapMin_ms * base::portable_exp(kGapSpan * random_.uniform());
    uint16_t model = 0;
    if (!models_.empty()) {
      const uint16_t other = draw_model();
      model = random_.uniform() < kFavourite ? favourites_[burst.user] : other;
    }
    const double own = std::sqrt(1 - plan_.burst_correlation);
    const double common = std::sqrt(plan_.burst_correlation) * draw_normal(random_);
    for (int64_t i = 0; i < burst.jobs; ++i) {
      jobs_.push_back({.submit_ms = at_ms % period_ms,
                       .score = static_cast<float>(common + own * draw_normal(random_)),
                       .group = burst.group,
                       .user = burst.user,
                       .model = model});
      at_ms += static_cast<int64_t>(gap_ms * draw_exponential(random_));
      if (progress_ && static_cast<int64_t>(jobs_.size()) % kReportEvery == 0) {
        progress_(static_cast<int64_t>(jobs_.size()), 2 * total_);
      }
    }
  }

  std::vector<double> durations_of(const Stratum& stratum, size_t count) {
    const bool extremes = stratum.extremes && count > 2;
    auto durations_s = stratum.law->stratified_s(extremes ? count - 2 : count, random_);
    if (extremes) {
      durations_s.insert(durations_s.begin(), stratum.law->min_s());
      durations_s.push_back(stratum.law->max_s());
    }
    return durations_s;
  }

  /// The k-th job of a stratum by score gets the k-th duration.
  void give_durations() {
    std::vector<std::vector<uint32_t>> members(plan_.strata.size());
    for (size_t job = 0; job < jobs_.size(); ++job) {
      members[plan_.groups[jobs_[job].group].stratum].push_back(static_cast<uint32_t>(job));
    }
    int64_t done = total_;
    for (size_t s = 0; s < members.size(); ++s) {
      std::ranges::sort(members[s], [this](uint32_t a, uint32_t b) {
        return jobs_[a].score != jobs_[b].score ? jobs_[a].score < jobs_[b].score : a < b;
      });
      const auto durations_s = durations_of(plan_.strata[s], members[s].size());
      for (size_t k = 0; k < durations_s.size(); ++k) {
        jobs_[members[s][k]].duration_s = static_cast<int32_t>(std::lround(durations_s[k]));
      }
      done += static_cast<int64_t>(members[s].size());
      if (progress_) progress_(done, 2 * total_);
    }
  }

  const PopulationPlan& plan_;
  Random& random_;
  const WorkProgress& progress_;
  WeightedChoice hours_;
  WeightedChoice models_;
  std::vector<uint16_t> favourites_;
  std::vector<JobDraft> jobs_;
  int64_t total_ = 0;
};

/// The largest customary limit below the duration, if the job can be moved there; otherwise 0.
int64_t limit_to_exceed_s(const JobDraft& job, int32_t max_s) {
  constexpr double kMoveMost = 1.05;
  const int64_t limit_s = std::min<int64_t>(customary_limit_below_s(job.duration_s), max_s);
  return job.duration_s < kMoveMost * static_cast<double>(limit_s) ? limit_s : 0;
}

void exceed(JobDraft& job, int64_t limit_s, Random& random) {
  constexpr uint64_t kLate_s = 20;  // maximum delay until a job that exceeds its limit is killed
  const int64_t late_s = 1 + static_cast<int64_t>(random.below(kLate_s));
  job.limit_s = static_cast<int32_t>(limit_s);
  job.duration_s = std::min(job.duration_s, static_cast<int32_t>(limit_s + late_s));
}

}  // namespace

std::vector<JobDraft> draft_population(const PopulationPlan& plan, Random& random,
                                       const WorkProgress& progress) {
  return Drafter(plan, random, progress).run();
}

void give_limits(std::vector<JobDraft>& jobs, const LimitRules& rules, Random& random) {
  std::vector<uint32_t> candidates;
  int64_t left = rules.exceeded;
  for (size_t i = 0; i < jobs.size(); ++i) {
    JobDraft& job = jobs[i];
    const int32_t max_s = rules.max_s[job.group];
    if (job.duration_s > max_s) {
      job.limit_s = max_s;
      --left;
    } else if (limit_to_exceed_s(job, max_s) > 0) {
      candidates.push_back(static_cast<uint32_t>(i));
    }
  }
  shuffle(candidates, random);
  candidates.resize(std::min(candidates.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
  std::ranges::sort(candidates);
  for (const uint32_t i : candidates) {
    exceed(jobs[i], limit_to_exceed_s(jobs[i], rules.max_s[jobs[i].group]), random);
  }
  constexpr double kGuessMost = 5;  // users request 1 to 5 times what they need
  for (JobDraft& job : jobs) {
    if (job.limit_s > 0) continue;
    const double guess = 1 + (kGuessMost - 1) * random.uniform();
    const bool asks = job.duration_s > rules.default_s || random.uniform() >= rules.default_share;
    const int64_t limit_s = asks ? customary_limit_s(job.duration_s * guess) : rules.default_s;
    job.limit_s = static_cast<int32_t>(std::min<int64_t>(limit_s, rules.max_s[job.group]));
  }
}

void sort_by_submission(std::vector<JobDraft>& jobs) {
  std::ranges::stable_sort(jobs, {}, &JobDraft::submit_ms);
}

}  // namespace goban::study::history
