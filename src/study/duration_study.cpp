#include "study/duration_study.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

#include "core/knowledge/durations/duration_predictor.hpp"
#include "core/knowledge/median.hpp"
#include "study/simulator/run_forecasts.hpp"

namespace goban::study {
namespace {

using core::knowledge::DurationForecast;
using core::knowledge::DurationPredictor;
using core::knowledge::DurationTraits;
using core::model::Job;
using core::model::JobHistory;
using core::model::TimeNs;

constexpr double kTrainingShare = 0.2;
constexpr double kSecondsMin = 10;  // shorter ones count as this in errors and in coverage
constexpr TimeNs kDay_ns = 86'400 * base::kSecond;

double counted(double seconds) { return std::max(seconds, kSecondsMin); }
double ln_of(double seconds) { return std::log(counted(seconds)); }

double pinball(double level, double predicted, double actual) {
  const double over = actual - predicted;
  return over >= 0 ? level * over : (level - 1) * over;
}

/// What simple rules remember of earlier runs.
class SimpleRules {
 public:
  /// Mean of the user's last two runs; of one if there is but one.
  std::optional<double> last_two(const DurationTraits& job) const {
    const auto found = last_.find(job.user.value);
    if (found == last_.end()) return std::nullopt;
    const auto& runs = found->second;
    return runs.size() == 1 ? runs.front() : (runs.front() + runs.back()) / 2;
  }
  /// Median of the user's last 50 runs with this name; without names, with as many GPUs.
  std::optional<double> median_of_similar(const DurationTraits& job) const {
    const auto found = similar_.find(key(job));
    if (found == similar_.end()) return std::nullopt;
    return core::knowledge::median({found->second.begin(), found->second.end()});
  }
  void learn(const DurationTraits& job, double run_s) {
    remember(last_[job.user.value], run_s, 2);
    remember(similar_[key(job)], run_s, 50);
  }

 private:
  static std::pair<uint32_t, uint64_t> key(const DurationTraits& job) {
    constexpr uint64_t kBySize = uint64_t{1} << 32;
    return {job.user.value,
            job.name.valid() ? job.name.value : kBySize + static_cast<uint32_t>(job.num_gpus)};
  }
  static void remember(std::deque<double>& runs, double run_s, size_t most) {
    runs.push_back(run_s);
    if (runs.size() > most) runs.pop_front();
  }

  std::unordered_map<uint32_t, std::deque<double>> last_;
  std::map<std::pair<uint32_t, uint64_t>, std::deque<double>> similar_;
};

/// Errors of one rule beside those of the method on the same jobs.
struct ErrorSample {
  std::vector<double> ln_errors;
  double pinball_sum = 0;
  double method_pinball_sum = 0;
  int64_t within = 0;

  void add(double predicted_s, double run_s, double method_s) {
    const double error = ln_of(predicted_s) - ln_of(run_s);
    ln_errors.push_back(std::abs(error));
    pinball_sum += pinball(0.5, ln_of(predicted_s), ln_of(run_s));
    method_pinball_sum += pinball(0.5, ln_of(method_s), ln_of(run_s));
    constexpr double kTwo = 0.6931471805599453;
    if (std::abs(error) <= kTwo) ++within;
  }
  RuleErrors result(std::string rule) {
    RuleErrors out{.rule = std::move(rule), .jobs = static_cast<int64_t>(ln_errors.size())};
    if (ln_errors.empty()) return out;
    const auto jobs = static_cast<double>(out.jobs);
    out.pinball_median = pinball_sum / jobs;
    out.method_pinball = method_pinball_sum / jobs;
    out.within_2x = static_cast<double>(within) / jobs;
    out.median_ln = core::knowledge::median(std::move(ln_errors));
    return out;
  }
};

/// A job that was predicted and has not ended.
struct Pending {
  TimeNs end_ns = 0;
  size_t job = 0;
  size_t place = 0;  ///< of its forecast
  friend bool operator>(const Pending& a, const Pending& b) {
    return std::pair(a.end_ns, a.job) > std::pair(b.end_ns, b.job);
  }
};

class Replay {
 public:
  explicit Replay(const JobHistory& history) : history_(history) {
    for (size_t i = 0; i < history.jobs.size(); ++i) {
      if (history.jobs[i].request.num_gpus > 0) jobs_.push_back(i);
    }
    if (jobs_.empty()) {
      for (size_t i = 0; i < history.jobs.size(); ++i) jobs_.push_back(i);
    }
  }

  DurationStudy run() {
    out_.jobs = static_cast<int64_t>(jobs_.size());
    out_.shares_below.resize(DurationForecast::kQuantiles);
    if (jobs_.empty()) return std::move(out_);
    const TimeNs first_ns = submit_ns(jobs_.front());
    const TimeNs span_ns = submit_ns(jobs_.back()) - first_ns;
    constexpr int64_t kShortDays = 60;
    out_.part_days = span_ns < kShortDays * kDay_ns ? 7 : 30;
    const auto judged_from =
        static_cast<size_t>(std::ceil(kTrainingShare * static_cast<double>(jobs_.size())));
    for (size_t n = 0; n < jobs_.size(); ++n) {
      learn_until(submit_ns(jobs_[n]));
      submit(jobs_[n], n >= judged_from);
    }
    finish();
    return std::move(out_);
  }

 private:
  TimeNs submit_ns(size_t job) const { return history_.jobs[job].request.submit_ns; }

  DurationTraits traits_of(const Job& job) const {
    return simulator::duration_traits(history_, job.request);
  }

  static double run_s(const Job& job) {
    const double limit_s = base::to_seconds(job.request.walltime_limit_ns);
    return limit_s > 0 ? std::min(job.work_s, limit_s) : job.work_s;
  }

  TimeNs end_ns(size_t index, const Job& job) {
    if (index < history_.recorded.size()) {
      const core::model::Recorded& recorded = history_.recorded[index];
      out_.ends_known |= recorded.finish_ns >= 0 || recorded.start_ns >= 0;
      if (recorded.finish_ns >= 0) return recorded.finish_ns;
      if (recorded.start_ns >= 0) return recorded.start_ns + base::from_seconds(job.work_s);
    }
    return job.request.submit_ns + base::from_seconds(job.work_s);
  }

  void learn_until(TimeNs now_ns) {
    while (!pending_.empty() && pending_.top().end_ns <= now_ns) {
      const Pending ended = pending_.top();
      pending_.pop();
      const Job job = history_.jobs[ended.job];
      const DurationTraits traits = traits_of(job);
      predictor_.learn(traits, forecasts_[ended.place], run_s(job));
      simple_.learn(traits, run_s(job));
      free_.push_back(ended.place);
    }
  }

  void submit(size_t index, bool judged) {
    const Job job = history_.jobs[index];
    const DurationTraits traits = traits_of(job);
    if (free_.empty()) {
      free_.push_back(forecasts_.size());
      forecasts_.emplace_back();
    }
    const size_t place = free_.back();
    free_.pop_back();
    forecasts_[place] = predictor_.predict(traits);
    pending_.push({.end_ns = end_ns(index, job), .job = index, .place = place});
    if (judged && forecasts_[place].has_interval()) judge(job, traits, forecasts_[place]);
  }

  void judge(const Job& job, const DurationTraits& traits, const DurationForecast& forecast) {
    ++out_.judged;
    const double actual_s = run_s(job);
    method_.add(forecast.p50_s, actual_s, forecast.p50_s);
    pinball_sum_ += (pinball(0.1, ln_of(forecast.p10_s), ln_of(actual_s)) +
                     pinball(0.5, ln_of(forecast.p50_s), ln_of(actual_s)) +
                     pinball(0.9, ln_of(forecast.p90_s), ln_of(actual_s))) /
                    3;
    const double limit_s = traits.limit_s;
    if (limit_s > 0) limit_.add(limit_s, actual_s, forecast.p50_s);
    // Whoever knows the limit never expects a longer run: the rules must not be weaker than that.
    const auto at_most = [limit_s](double run_s) {
      return limit_s > 0 ? std::min(run_s, limit_s) : run_s;
    };
    if (const auto value = simple_.last_two(traits))
      last_two_.add(at_most(*value), actual_s, forecast.p50_s);
    if (const auto value = simple_.median_of_similar(traits))
      similar_.add(at_most(*value), actual_s, forecast.p50_s);
    count(job, forecast, actual_s);
  }

  void count(const Job& job, const DurationForecast& forecast, double actual_s) {
    const auto part = static_cast<size_t>((job.request.submit_ns - submit_ns(jobs_.front())) /
                                          (out_.part_days * kDay_ns));
    if (part >= out_.parts.size()) out_.parts.resize(part + 1);
    widths_[forecast.familiarity].push_back(forecast.p90_s / std::max(forecast.p10_s, 1.0));
    for (Coverage* coverage : {&out_.all, &out_.parts[part], &by_user_[job.request.user.value],
                               &out_.by_familiarity[forecast.familiarity],
                               &out_.by_basis[static_cast<size_t>(forecast.basis)]}) {
      ++coverage->jobs;
      if (counted(actual_s) < counted(forecast.p10_s)) ++coverage->below;
      if (counted(actual_s) > counted(forecast.p90_s)) ++coverage->above;
    }
    for (size_t i = 0; i < forecast.quantiles_s.size(); ++i) {
      if (actual_s <= forecast.quantiles_s[i]) ++out_.shares_below[i];
    }
  }

  void finish() {
    constexpr int64_t kUserJobsMin = 100;
    out_.rules = {method_.result("method"), limit_.result("limit"), last_two_.result("last-two"),
                  similar_.result("median-of-similar")};
    if (out_.judged > 0) {
      out_.pinball_mean = pinball_sum_ / static_cast<double>(out_.judged);
      for (double& share : out_.shares_below) share /= static_cast<double>(out_.judged);
    }
    for (size_t i = 0; i < widths_.size(); ++i) {
      out_.width[i] = widths_[i].empty() ? 0 : core::knowledge::median(std::move(widths_[i]));
    }
    for (const auto& [user, coverage] : by_user_) {
      const bool named = user < history_.users.size() && !history_.users[user].empty();
      if (!named || coverage.jobs < kUserJobsMin) continue;
      out_.users.push_back({.user = core::model::UserId(user), .coverage = coverage});
    }
    std::ranges::stable_sort(out_.users, {}, [](const auto& u) { return u.coverage.covered(); });
  }

  const JobHistory& history_;
  std::vector<size_t> jobs_;
  DurationPredictor predictor_;
  SimpleRules simple_;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::vector<DurationForecast> forecasts_;
  std::vector<size_t> free_;
  ErrorSample method_;
  ErrorSample limit_;
  ErrorSample last_two_;
  ErrorSample similar_;
  double pinball_sum_ = 0;
  std::array<std::vector<double>, 3> widths_;
  std::map<uint32_t, Coverage> by_user_;
  DurationStudy out_;
};

}  // namespace

DurationStudy study_durations(const JobHistory& history) { return Replay(history).run(); }

}  // namespace goban::study
