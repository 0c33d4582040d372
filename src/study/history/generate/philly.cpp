#include "study/history/generate/philly.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <string>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/time.hpp"
#include "core/knowledge/app_class.hpp"
#include "study/history/generate/philly/facts.hpp"
#include "study/history/generate/population.hpp"

namespace goban::study::history {
namespace {

namespace philly = generate::philly;

using base::Random;
using base::Status;
using base::usage_error;

/// A user within a virtual cluster.
struct Submitter {
  size_t user = 0;
  size_t cluster = 0;
  int64_t jobs = 0;
};

/// Meets the quotas of both users and clusters. The users are put in random order along the
/// clusters, so only those at a boundary belong to two.
std::vector<Submitter> submitters(int64_t num_jobs, Random& random) {
  const double exponent = zipf_exponent(philly::kUsers, philly::kTopUsers, philly::kTopShare);
  const auto user_jobs = quotas(zipf_weights(philly::kUsers, exponent), num_jobs);
  const auto cluster_jobs =
      quotas(std::vector<double>(philly::kVirtualClusters.begin(), philly::kVirtualClusters.end()),
             num_jobs);
  std::vector<size_t> order;
  for (size_t user = 0; user < user_jobs.size(); ++user) order.push_back(user);
  shuffle(order, random);
  std::vector<Submitter> result;
  size_t cluster = 0;
  int64_t room = cluster_jobs[0];
  for (const size_t user : order) {
    int64_t left = user_jobs[user];
    while (left > 0) {
      while (room == 0) room = cluster_jobs[++cluster];
      const int64_t jobs = std::min(left, room);
      result.push_back({user, cluster, jobs});
      left -= jobs;
      room -= jobs;
    }
  }
  return result;
}

class PhillyMonths {
 public:
  PhillyMonths(const PhillyOptions& options, const TextSink& sink, const WorkProgress& progress)
      : options_(options), progress_(progress), random_(options.seed), writer_(sink) {
    num_jobs_ = options.num_jobs > 0 ? options.num_jobs : philly::kAttempts;
    for (const core::knowledge::KnownModel& known : core::knowledge::kKnownModels) {
      base::append_csv_field(models_.emplace_back(), known.name);
    }
    for (const philly::StateRow& row : philly::kStateRows) {
      WeightedChoice& choice = states_.emplace_back();
      for (const double share : row.shares) choice.add(share);
    }
  }

  Status run() {
    PopulationPlan plan;
    plan.arrivals = {philly::kHourWeights, philly::kWeekdayWeights, philly::kFirstWeekday,
                     philly::kDays};
    plan.models = std::vector<double>(models_.size(), 1.0);
    plan.burst_exponent = philly::kBurstExponent;
    add_groups(plan);
    std::array<int64_t, philly::kNumRunTimeRows> row_jobs{};
    for (const JobGroup& group : plan.groups) row_jobs[group.stratum] += group.jobs;
    const bool extremes = num_jobs_ >= philly::kAttempts;
    std::deque<DurationLaw> laws;
    for (size_t row = 0; row < row_jobs.size(); ++row) {
      const DurationFacts& facts = philly::run_time_rows()[row].facts;
      auto law = DurationLaw::fit(extremes ? without_extremes(facts, row_jobs[row]) : facts);
      if (!law) return base::failure(law.error());
      laws.push_back(std::move(*law));
      plan.strata.push_back({&laws.back(), extremes});
    }
    submitters_ = submitters(num_jobs_, random_);
    for (const Submitter& submitter : submitters_) plan.user_jobs.push_back(submitter.jobs);
    const WorkProgress inner = [this](int64_t done, int64_t) { report(done); };
    std::vector<JobDraft> jobs = draft_population(plan, random_, inner);
    sort_by_submission(jobs);
    write(jobs);
    return {};
  }

 private:
  void add_groups(PopulationPlan& plan) const {
    constexpr int64_t kBurstMost = 1'000;
    std::vector<double> weights;
    for (const philly::SizeRow& size : philly::kSizes) {
      weights.push_back(static_cast<double>(size.attempts));
    }
    const auto counts = quotas(weights, num_jobs_);
    for (size_t i = 0; i < counts.size(); ++i) {
      uint32_t stratum = 0;
      while (philly::run_time_rows()[stratum].gpus_max < philly::kSizes[i].num_gpus) ++stratum;
      plan.groups.push_back({stratum, counts[i], kBurstMost});
    }
  }

  /// Reports three units per job: drafted, given a duration, written.
  void report(int64_t done) const {
    if (progress_) progress_(done, 3 * num_jobs_);
  }

  void write(const std::vector<JobDraft>& jobs) {
    const int64_t end_ms = (options_.days > 0 ? options_.days : philly::kDays) * kDay_ms;
    writer_.text() = "job_id,submit_time,duration,num_gpus,user,account,model,state\n";
    int64_t id = 0;
    for (const JobDraft& job : jobs) {
      if (job.submit_ms >= end_ms) break;
      write_job(id++, job);
      if (writer_.record_done()) report(2 * num_jobs_ + id);
    }
    writer_.finish();
  }

  void write_job(int64_t id, const JobDraft& job) {
    constexpr base::TimeNs kMilli_ns = 1'000'000;
    const Submitter& submitter = submitters_[job.user];
    std::string& out = writer_.text();
    base::append_number(out, id);
    out += ',';
    base::append_seconds(out, job.submit_ms * kMilli_ns);
    out += ',';
    base::append_number(out, int64_t{job.duration_s});
    out += ',';
    base::append_number(out, int64_t{philly::kSizes[job.group].num_gpus});
    out += ",u";
    base::append_number(out, static_cast<int64_t>(submitter.user));
    out += ",vc";
    base::append_number(out, static_cast<int64_t>(submitter.cluster));
    out += ',';
    out += models_[job.model];
    out += ',';
    out += draw_state(job.duration_s);
    out += '\n';
  }

  std::string_view draw_state(int32_t duration_s) {
    size_t row = 0;
    while (philly::kStateRows[row].below_s <= duration_s) ++row;
    return philly::kStates[states_[row].draw(random_)];
  }

  const PhillyOptions& options_;
  const WorkProgress& progress_;
  Random random_;
  PieceWriter writer_;
  int64_t num_jobs_ = 0;
  std::vector<std::string> models_;
  std::vector<WeightedChoice> states_;  ///< by row of kStateRows
  std::vector<Submitter> submitters_;   ///< by JobDraft::user
};

}  // namespace

Status generate_philly(const PhillyOptions& options, const TextSink& sink,
                       const WorkProgress& progress) {
  if (options.num_jobs < 0 || options.num_jobs > PhillyOptions::kJobsMax) {
    return usage_error("number of jobs is out of range",
                       fmt::format("give 1 to {}", PhillyOptions::kJobsMax));
  }
  if (options.days < 0 || options.days > philly::kDays) {
    return usage_error("number of days is out of range",
                       fmt::format("give 1 to {}", philly::kDays));
  }
  return PhillyMonths(options, sink, progress).run();
}

}  // namespace goban::study::history
