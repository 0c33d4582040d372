#include "study/history/generate/abci.hpp"

#include <array>
#include <deque>
#include <fmt/format.h>
#include <string>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/time.hpp"
#include "core/knowledge/app_class.hpp"
#include "study/history/generate/abci/facts.hpp"
#include "study/history/generate/population.hpp"

namespace goban::study::history {
namespace {

namespace abci = generate::abci;

using base::Random;
using base::Status;
using base::usage_error;

// Our assumptions, not given in the paper: submission times (office hours; a third less on
// weekends), groups of users, and the models (PAL's six).
constexpr std::array<double, 24> kHourWeights = {.75, .65, .55, .5,  .45, .4,  .4,  .45,
                                                 .6,  .9,  1.3, 1.5, 1.4, 1.5, 1.6, 1.7,
                                                 1.7, 1.7, 1.6, 1.4, 1.2, 1.1, 1.0, .9};
constexpr std::array<double, 7> kWeekdayWeights = {1.1, 1.15, 1.15, 1.15, 1.1, .7, .65};
constexpr size_t kNumAccounts = 120;
constexpr int32_t kOtherUsers = 1'000;

/// Resource types of the paper's Table 1.
struct Type {
  std::string_view name;
  int32_t gpus = 0;
  int32_t limit_max_h = 72;
};
constexpr std::array<Type, 5> kAbciTypes = {{{"Full", 4, 72},
                                             {"G.large", 4, 72},
                                             {"G.small", 1, 168},
                                             {"C.large", 0, 72},
                                             {"C.small", 0, 168}}};

const Type& type_named(std::string_view name) {
  for (const Type& type : kAbciTypes) {
    if (type.name == name) return type;
  }
  return kAbciTypes[0];
}

/// How the jobs of a group are written.
struct Look {
  const Type* type = nullptr;
  int32_t instances = 1;
  std::string_view population;
};

/// Jobs outside the deep-learning population. All of these numbers are ours.
struct OtherRow {
  std::string_view population;
  std::string_view type;
  int32_t instances = 1;
  double share = 0;
};
constexpr std::array<OtherRow, 12> kOthers = {{{"cpu", "C.small", 1, .30},
                                               {"cpu", "C.large", 1, .10},
                                               {"short", "G.small", 1, .25},
                                               {"short", "G.large", 1, .03},
                                               {"short", "Full", 1, .16},
                                               {"short", "Full", 2, .02},
                                               {"short", "Full", 8, .01},
                                               {"idle", "G.small", 1, .06},
                                               {"idle", "G.large", 1, .01},
                                               {"idle", "Full", 1, .05},
                                               {"idle", "Full", 2, .005},
                                               {"idle", "Full", 4, .005}}};
// CPU jobs: median of six minutes, mean of one hour. Short jobs: below the 300 s of condition C4.
constexpr CdfPoint kCpuMedian{360, 0.5};
constexpr CdfPoint kShortMedian{60, 0.5};

/// One year of jobs, and the state needed to write it.
class AbciYear {
 public:
  AbciYear(const AbciOptions& options, const TextSink& sink, const WorkProgress& progress)
      : options_(options), progress_(progress), random_(options.seed), writer_(sink) {
    all_ = options.population == AbciPopulation::All;
    const int64_t published = all_ ? abci::kAllJobs : abci::kDlJobs;
    num_jobs_ = options.num_jobs > 0 ? options.num_jobs : published;
    num_dl_ =
        all_ ? quotas({abci::kDlJobs, abci::kAllJobs - abci::kDlJobs}, num_jobs_)[0] : num_jobs_;
    for (int32_t user = 0; user < kOtherUsers; ++user) {
      accounts_.push_back(fmt::format("g{:03}", random_.below(kNumAccounts)));
    }
    for (const core::knowledge::KnownModel& known : core::knowledge::kKnownModels) {
      base::append_csv_field(models_.emplace_back(), known.name);
    }
  }

  Status run() {
    std::vector<JobDraft> jobs;
    if (auto status = add_dl(jobs); !status) return status;
    if (num_jobs_ > num_dl_) {
      if (auto status = add_others(jobs); !status) return status;
    }
    sort_by_submission(jobs);
    write(jobs);
    return {};
  }

 private:
  base::Result<uint32_t> add_law(PopulationPlan& plan, const DurationFacts& facts, bool extremes) {
    auto law = DurationLaw::fit(facts);
    if (!law) return base::failure(law.error());
    laws_.push_back(std::move(*law));
    plan.strata.push_back({&laws_.back(), extremes});
    return static_cast<uint32_t>(plan.strata.size() - 1);
  }

  [[nodiscard]] PopulationPlan new_plan() const {
    PopulationPlan plan;
    plan.arrivals = {kHourWeights, kWeekdayWeights, abci::kFirstWeekday, abci::kDays};
    plan.models = std::vector<double>(models_.size(), 1.0);
    return plan;
  }

  void add_group(PopulationPlan& plan, uint32_t stratum, int64_t jobs, const Look& look) {
    constexpr int64_t kBurstMost = 1'000;
    constexpr int64_t kBurstMostMultiNode = 8;
    plan.groups.push_back({stratum, jobs, look.instances > 1 ? kBurstMostMultiNode : kBurstMost});
    looks_.push_back(look);
  }

  Status add_dl(std::vector<JobDraft>& jobs) {
    PopulationPlan plan = new_plan();
    const auto sizes = abci::size_rows();
    std::vector<double> weights;
    for (const abci::SizeRow& size : sizes) weights.push_back(size.jobs);
    const auto counts = quotas(weights, num_dl_);
    std::array<int64_t, abci::kNumRows> row_jobs{};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const abci::WalltimeRow& row = abci::walltime_rows()[sizes[i].row];
      row_jobs[sizes[i].row] += counts[i];
      add_group(plan, static_cast<uint32_t>(sizes[i].row), counts[i],
                {&type_named(row.resource_type), sizes[i].instances, "dl"});
    }
    const bool extremes = num_dl_ >= abci::kDlJobs;
    for (size_t row = 0; row < abci::kNumRows; ++row) {
      const DurationFacts facts = abci::walltime_rows()[row].facts();
      const auto stratum =
          add_law(plan, extremes ? without_extremes(facts, row_jobs[row]) : facts, extremes);
      if (!stratum) return base::failure(stratum.error());
    }
    const double exponent = zipf_exponent(abci::kSubmitters, abci::kTopSubmitters, abci::kTopShare);
    plan.user_jobs = quotas(zipf_weights(abci::kSubmitters, exponent), num_dl_);
    append(jobs, plan, 0);
    return {};
  }

  Status add_others(std::vector<JobDraft>& jobs) {
    using namespace abci;
    PopulationPlan plan = new_plan();
    const DurationFacts cpu{1, 72 * kHour_s, kHour_s, 4 * kHour_s, {kCpuMedian}};
    const DurationFacts brief{1, 299, 90, 80, {kShortMedian}};
    for (const DurationFacts& facts :
         {cpu, brief, walltime_rows()[kGSmall].facts(), walltime_rows()[kFull1].facts()}) {
      const auto stratum = add_law(plan, facts, false);
      if (!stratum) return base::failure(stratum.error());
    }
    std::vector<double> weights;
    for (const OtherRow& row : kOthers) weights.push_back(row.share);
    const auto counts = quotas(weights, num_jobs_ - num_dl_);
    const auto first_group = static_cast<uint32_t>(looks_.size());
    for (size_t i = 0; i < kOthers.size(); ++i) {
      const OtherRow& row = kOthers[i];
      const uint32_t idle = row.type == "G.small" ? 2 : 3;
      const uint32_t stratum = row.population == "cpu" ? 0 : row.population == "short" ? 1 : idle;
      add_group(plan, stratum, counts[i], {&type_named(row.type), row.instances, row.population});
    }
    const double exponent = zipf_exponent(kSubmitters, kTopSubmitters, kTopShare);
    std::vector<double> shares = zipf_weights(kOtherUsers, exponent);
    shuffle(shares,
            random_);  // users with most deep-learning jobs need not have most of the others
    plan.user_jobs = quotas(shares, num_jobs_ - num_dl_);
    append(jobs, plan, first_group);
    return {};
  }

  /// Drafts the plan's jobs, sets their walltime limits, and appends them; their groups start at
  /// `first_group`.
  void append(std::vector<JobDraft>& jobs, const PopulationPlan& plan, uint32_t first_group) {
    LimitRules rules;
    int64_t count = 0;
    for (size_t i = 0; i < plan.groups.size(); ++i) {
      rules.max_s.push_back(looks_[first_group + i].type->limit_max_h * 3'600);
      count += plan.groups[i].jobs;
    }
    rules.exceeded = quotas(
        {abci::kWalltimeExceededJobs, abci::kDlJobs - abci::kWalltimeExceededJobs}, count)[0];
    const auto before = static_cast<int64_t>(jobs.size());
    const WorkProgress inner = [&](int64_t done, int64_t) { report(2 * before + done); };
    std::vector<JobDraft> drafts = draft_population(plan, random_, inner);
    give_limits(drafts, rules, random_);
    for (JobDraft& job : drafts) job.group += first_group;
    if (jobs.empty()) {
      jobs = std::move(drafts);
    } else {
      jobs.insert(jobs.end(), drafts.begin(), drafts.end());
    }
  }

  /// Reports three units per job: drafted, given a duration, written.
  void report(int64_t done) const {
    if (progress_) progress_(done, 3 * num_jobs_);
  }

  void write(const std::vector<JobDraft>& jobs) {
    writer_.text() =
        "job_id,submit_time,duration,num_gpus,user,account,model,walltime_s,"
        "resource_type,instances";
    writer_.text() += all_ ? ",population\n" : "\n";
    const int64_t end_ms = (options_.days > 0 ? options_.days : abci::kDays) * kDay_ms;
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
    const Look& look = looks_[job.group];
    std::string& out = writer_.text();
    const auto number = [&out](int64_t value) {
      out += ',';
      base::append_number(out, value);
    };
    base::append_number(out, id);
    out += ',';
    base::append_seconds(out, job.submit_ms * kMilli_ns);
    number(job.duration_s);
    number(int64_t{look.instances} * look.type->gpus);
    out += ",u";
    base::append_number(out, int64_t{job.user});
    out += ',';
    out += accounts_[job.user];
    out += ',';
    if (look.type->gpus > 0) out += models_[job.model];
    number(job.limit_s);
    out += ',';
    out += look.type->name;
    number(look.instances);
    if (all_) {
      out += ',';
      out += look.population;
    }
    out += '\n';
  }

  const AbciOptions& options_;
  const WorkProgress& progress_;
  Random random_;
  PieceWriter writer_;
  bool all_ = false;
  int64_t num_jobs_ = 0;
  int64_t num_dl_ = 0;
  std::vector<std::string> accounts_;  ///< by user
  std::vector<std::string> models_;
  std::vector<Look> looks_;  ///< by group
  std::deque<DurationLaw> laws_;
};

}  // namespace

Status generate_abci(const AbciOptions& options, const TextSink& sink,
                     const WorkProgress& progress) {
  if (options.num_jobs < 0 || options.num_jobs > AbciOptions::kJobsMax) {
    return usage_error("number of jobs is out of range",
                       fmt::format("give 1 to {}", AbciOptions::kJobsMax));
  }
  if (options.days < 0 || options.days > abci::kDays) {
    return usage_error("number of days is out of range", fmt::format("give 1 to {}", abci::kDays));
  }
  return AbciYear(options, sink, progress).run();
}

}  // namespace goban::study::history
