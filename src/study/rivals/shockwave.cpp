#include "study/rivals/shockwave.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <string>

#include "base/number.hpp"
#include "base/random.hpp"
#include "study/rivals/batch_sizes.hpp"
#include "study/rivals/shares.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;
using base::Status;

constexpr double kRoundS = 120;
constexpr double kChargeS = 20;
constexpr double kComputeEveryS = 1000;
constexpr int kFailuresMax = 5;
constexpr size_t kRoundsMax = 1'000'000;
constexpr int64_t kEpochsMax = 1'000'000;
constexpr int64_t kNever = -10;

struct RoundJob {
  Training training;
  BatchState batch;
  double submit_s = 0;
  double speed = 1;  ///< true rate / rate of the table
  double alone_s = 0;
  double limit_s = 0;
  double used_s = 0;  ///< since the last computation, with half a round to begin with
  double ran_s = 0;   ///< over all rounds
  double deficit_s = 0;
  std::optional<double> share{};
  double told_s = 0;     ///< finish_time_fairness: of the computations so far
  double told_left = 0;  ///< steps left at the last computation
  double told_rate = 0;  ///< alone rate then; 0: none yet
  double owed_s = 0;     ///< of its last restart
  int failures = 0;
  int64_t round = kNever;  ///< the last in which it ran
  int64_t round_before = kNever;
  double finish_s = 0;  ///< of its round
  int64_t round_steps = 0;
  double priority = 0;
  std::vector<int32_t> gpus;  ///< of its last round
  double start_s = -1;
  double jct_s = 0;
};

/// Rounded to 5 digits, exact halves to even, as Python's round().
double rounded(double value) {
  return base::parse_double(fmt::format("{:.5f}", value)).value_or(value);
}

class RoundSimulator {
 public:
  RoundSimulator(const ShockwaveInputs& inputs, GavelPolicy policy, const RealGpus& real)
      : inputs_(inputs),
        policy_(policy),
        real_(real),
        draws_(real.seed),
        busy_s_(static_cast<size_t>(inputs.num_gpus), 0.0),
        taken_(static_cast<size_t>(inputs.num_gpus), 0) {}

  Result<ShockwaveRun> run() {
    if (auto loaded = load(); !loaded) return base::failure(loaded.error());
    now_s_ = jobs_.front().submit_s;
    for (round_ = 0;; ++round_) {
      if (round_ >= static_cast<int64_t>(kRoundsMax)) {
        return base::failed("the jobs do not end within a million rounds",
                            "correct the steps or rates");
      }
      std::vector<int32_t> ended;
      if (round_ > 0) {
        advance_clock();
        ended = credit();
      }
      for (const int32_t id : active_) set_batch_flag(job(id).training, job(id).batch);
      admit();
      if (active_.empty()) break;
      if (dirty_ && (now_s_ - computed_s_ >= kComputeEveryS || computed_s_ == 0)) {
        if (auto computed = compute(); !computed) return base::failure(computed.error());
      }
      place(choose(), std::move(ended));
    }
    if (next_ < jobs_.size()) {
      return base::failed(
          fmt::format("the published loop stops at {} s, when no job is active, before job {} is "
                      "submitted",
                      base::number_text(now_s_), next_),
          "give a trace without such a gap");
    }
    if (inputs_.shares) {
      if (auto end = inputs_.shares->check_end(run_.shares.size()); !end) {
        return base::failure(end.error());
      }
    }
    finish();
    return std::move(run_);
  }

 private:
  RoundJob& job(int32_t id) { return jobs_[static_cast<size_t>(id)]; }

  Status load() {
    for (const ShockwaveJob& each : inputs_.jobs) {
      auto loaded = load_job(each);
      if (!loaded) return base::failure(loaded.error());
      jobs_.push_back(std::move(*loaded));
    }
    if (jobs_.empty()) return base::failed("no jobs");
    return check_real();
  }

  Status check_real() {
    if (real_.speed.empty()) return {};
    if (real_.speed.size() != jobs_.size()) {
      return base::failed(fmt::format("{} speeds for {} jobs", real_.speed.size(), jobs_.size()),
                          "give one for each job");
    }
    for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i].speed = real_.speed[i];
    return {};
  }

  double charge_s() {
    if (real_.restart_s.empty()) return kChargeS;
    return real_.restart_s[draws_.below(real_.restart_s.size())];
  }

  Result<RoundJob> load_job(const ShockwaveJob& from) {
    const size_t id = jobs_.size();
    RoundJob to;
    to.training = {.model = find_trained_model(from.model),
                   .mode = from.mode,
                   .first_batch = from.batch,
                   .gpus = from.gpus,
                   .steps = from.steps,
                   .phases = nullptr};
    if (to.training.model == nullptr) {
      return base::bad_data({}, fmt::format("job {}: unknown model {}", id, from.model),
                            "known models: ResNet-18, ResNet-50, Transformer, LM, Recommendation");
    }
    if (from.gpus > inputs_.num_gpus) {
      return base::bad_data(
          {}, fmt::format("job {}: {} GPUs on a cluster of {}", id, from.gpus, inputs_.num_gpus),
          "give a larger cluster");
    }
    if (from.steps / to.training.model->epoch_steps(from.batch) >= kEpochsMax) {
      return base::bad_data({}, fmt::format("job {}: more than {} epochs", id, kEpochsMax),
                            "correct total_steps");
    }
    if (from.mode == BatchMode::GradientNoise) {
      const auto found = inputs_.batch_sizes.find({from.model, from.batch, from.gpus});
      if (found != inputs_.batch_sizes.end()) to.training.phases = &found->second;
    }
    const auto rate = inputs_.rates.find(from.model, from.batch, from.gpus);
    if (!rate) {
      return base::failure(
          inputs_.rates.missing(from.model, from.batch, from.gpus, fmt::format("job {}", id)));
    }
    to.batch = {.batch = from.batch,
                .steps = from.steps,
                .done = 0,
                .rate = *rate,
                .flag = BatchFlag::None};
    to.submit_s = from.submit_s;
    const auto alone = to.training.alone_s(inputs_.rates, id);
    if (!alone) return base::failure(alone.error());
    to.alone_s = *alone;
    to.limit_s = std::trunc(std::trunc(*alone) * 1.5);
    return to;
  }

  /// The round ended with the last of its jobs.
  void advance_clock() {
    if (end_s_) start_s_ = *end_s_;
    double latest_s = running_.empty() ? now_s_ + kRoundS : 0;
    for (const int32_t id : running_) latest_s = std::max(latest_s, job(id).finish_s);
    now_s_ = latest_s;
    end_s_ = latest_s;
  }

  /// Credits the jobs of the last round; returns those that ended.
  std::vector<int32_t> credit() {
    std::vector<int32_t> order = running_;
    std::ranges::sort(order, [this](int32_t a, int32_t b) {
      if (job(a).finish_s != job(b).finish_s) return job(a).finish_s > job(b).finish_s;
      return a < b;
    });
    std::vector<int32_t> ended;
    for (const int32_t id : order) {
      if (!credit_job(job(id))) continue;
      job(id).jct_s = job(id).finish_s - job(id).submit_s;
      ended.push_back(id);
      std::erase(active_, id);
      dirty_ = true;
    }
    return ended;
  }

  /// True if the job has ended.
  bool credit_job(RoundJob& job) {
    bool ended = false;
    int64_t steps = job.round_steps;
    double ran_s = job.finish_s - start_s_;
    if (round_ >= 2 && job.round_before != round_ - 2 && ran_s > kRoundS - 5) {
      job.owed_s = charge_s();
    }
    const bool pays = job.owed_s > 0 && ran_s > 0;
    if (pays) {  // what is more than a round is due in the next one
      const double paid_s = std::min(job.owed_s, ran_s);
      const double factor = (ran_s - paid_s) / ran_s;
      steps = static_cast<int64_t>(static_cast<double>(steps) * factor);
      ran_s -= paid_s;
      job.owed_s -= paid_s;
    }
    if (steps <= 0 && ran_s <= 0 && !pays) {
      dirty_ = true;
      ended = ++job.failures >= kFailuresMax;
    } else {
      job.failures = 0;
      job.batch.done += steps;
      job.used_s += ran_s;
      job.ran_s += ran_s;
      all_used_s_ += ran_s;
      for (const int32_t gpu : job.gpus) busy_s_[static_cast<size_t>(gpu)] += ran_s;
      ended = job.batch.steps - job.batch.done <= 0 || job.ran_s > job.limit_s;
    }
    apply_batch_flag(job.training, inputs_.rates, job.batch);
    return ended;
  }

  void admit() {
    for (; next_ < jobs_.size() && jobs_[next_].submit_s <= now_s_; ++next_) {
      jobs_[next_].used_s = kRoundS / 2;
      active_.push_back(static_cast<int32_t>(next_));
      dirty_ = true;
    }
  }

  /// Computes the shares of all active jobs.
  Status compute() {
    all_used_s_ = 0;
    for (const int32_t id : active_) {
      RoundJob& each = job(id);
      each.deficit_s +=
          each.share.value_or(0) * (now_s_ - computed_s_) - (each.used_s - kRoundS / 2);
      each.used_s = kRoundS / 2;
      all_used_s_ += each.used_s;
    }
    computed_s_ = now_s_;
    auto shares =
        inputs_.shares ? inputs_.shares->take(run_.shares.size(), now_s_, active_) : solve();
    if (!shares) return base::failure(shares.error());
    for (size_t i = 0; i < active_.size(); ++i) job(active_[i]).share = (*shares)[i];
    run_.shares.push_back({now_s_, active_, std::move(*shares)});
    dirty_ = false;
    return {};
  }

  ShareProblem problem() {
    ShareProblem problem;
    problem.capacity = inputs_.num_gpus;
    for (const int32_t id : active_) {
      const RoundJob& each = job(id);
      problem.gpus.push_back(each.training.gpus);
      problem.rate.push_back(each.batch.rate);
      problem.left.push_back(static_cast<double>(each.batch.steps - each.batch.done));
    }
    return problem;
  }

  Result<std::vector<double>> solve() {
    ShareProblem problem = this->problem();
    switch (policy_) {
      case GavelPolicy::GandivaFair:
        return equal_shares(problem);
      case GavelPolicy::MaxMinFairness:
        return max_min_shares(problem);
      case GavelPolicy::MaxSumThroughput:
        return max_throughput_shares(problem);
      case GavelPolicy::MinTotalDuration:
        return min_duration_shares(problem);
      case GavelPolicy::FinishTimeFairness:
        add_equal_times(problem);
        return fair_ratio_shares(problem).shares;
      case GavelPolicy::Allox: {
        std::vector<double> before;
        for (const int32_t id : active_) before.push_back(job(id).share.value_or(0));
        return allox_shares(problem, before);
      }
    }
    return std::vector<double>{};
  }

  /// What finish_time_fairness compares with: the times of an equal share of the cluster.
  void add_equal_times(ShareProblem& problem) {
    const double machines = inputs_.num_gpus / static_cast<double>(active_.size());
    for (size_t i = 0; i < active_.size(); ++i) {
      RoundJob& each = job(active_[i]);
      const double left = problem.left[i];
      if (each.told_rate > 0) each.told_s += (each.told_left - left) / each.told_rate;
      const double equal = machines / each.training.gpus;
      each.told_rate = each.batch.rate * equal / std::max(equal, 1.0);
      each.told_left = left;
      problem.waited_s.push_back(now_s_ - each.submit_s);
      problem.told_s.push_back(each.told_s);
      problem.alone.push_back(each.told_rate);
    }
  }

  /// Who runs, by priority; jobs without a share take room as well.
  std::vector<int32_t> choose() {
    for (const int32_t id : active_) {
      RoundJob& each = job(id);
      const double share = each.share.value_or(0);
      each.priority = share == 0 ? 0 : share / (each.used_s / all_used_s_);
    }
    std::vector<int32_t> order = active_;
    std::ranges::sort(order, [this](int32_t a, int32_t b) {
      const RoundJob& x = job(a);
      const RoundJob& y = job(b);
      if (x.priority != y.priority) return x.priority > y.priority;
      if (x.deficit_s != y.deficit_s) return x.deficit_s > y.deficit_s;
      if (x.share.value_or(0) != y.share.value_or(0)) {
        return x.share.value_or(0) > y.share.value_or(0);
      }
      return a < b;
    });
    std::vector<int32_t> chosen;
    int32_t room = inputs_.num_gpus;
    for (const int32_t id : order) {
      if (job(id).training.gpus > room) continue;
      room -= job(id).training.gpus;
      chosen.push_back(id);
    }
    // Large jobs are placed first.
    std::ranges::stable_sort(chosen, std::ranges::greater{},
                             [this](int32_t id) { return job(id).training.gpus; });
    return chosen;
  }

  [[nodiscard]] bool is_free(int32_t gpu) const { return taken_[static_cast<size_t>(gpu)] == 0; }
  void take(const RoundJob& job) {
    for (const int32_t gpu : job.gpus) taken_[static_cast<size_t>(gpu)] = 1;
  }
  [[nodiscard]] bool can_keep(const RoundJob& job) const {
    return job.round == round_ - 1 &&
           std::ranges::all_of(job.gpus, [this](int32_t gpu) { return is_free(gpu); });
  }

  void place(const std::vector<int32_t>& chosen, std::vector<int32_t> ended) {
    std::ranges::fill(taken_, 0);
    running_.clear();
    for (size_t from = 0; from < chosen.size();) {
      size_t to = from;
      while (to < chosen.size() &&
             job(chosen[to]).training.gpus == job(chosen[from]).training.gpus) {
        ++to;
      }
      place_size(
          {chosen.begin() + static_cast<int64_t>(from), chosen.begin() + static_cast<int64_t>(to)});
      from = to;
    }
    Decision decision{.now_s = now_s_, .holdings = {}, .ended = std::move(ended)};
    decision.holdings.reserve(running_.size());
    for (const int32_t id : running_) {
      decision.holdings.push_back({id, job(id).gpus});
      begin_round(job(id));
    }
    run_.rounds.push_back(std::move(decision));
  }

  /// Jobs of one size: those that keep their GPUs, then the others on the lowest free ones.
  void place_size(std::span<const int32_t> chosen) {
    std::vector<int32_t> others;
    for (const int32_t id : chosen) {
      if (!job(id).share) continue;  // the room that it took stays idle
      if (!can_keep(job(id))) {
        others.push_back(id);
        continue;
      }
      take(job(id));
      running_.push_back(id);
    }
    int32_t gpu = 0;
    for (const int32_t id : others) {
      RoundJob& each = job(id);
      each.gpus.clear();
      for (; static_cast<int32_t>(each.gpus.size()) < each.training.gpus; ++gpu) {
        if (is_free(gpu)) each.gpus.push_back(gpu);
      }
      take(each);
      running_.push_back(id);
    }
  }

  void begin_round(RoundJob& job) {
    if (job.start_s < 0) job.start_s = now_s_;
    job.round_before = job.round;
    job.round = round_;
    const double rate = job.batch.rate * job.speed;
    job.round_steps =
        std::min(static_cast<int64_t>(rate * kRoundS), job.batch.steps - job.batch.done);
    job.finish_s = std::max(now_s_, now_s_ + static_cast<double>(job.round_steps) / rate);
  }

  void finish() {
    run_.makespan_s = now_s_;
    const double contention = std::max(1.0, static_cast<double>(jobs_.size()) / inputs_.num_gpus);
    double sum_s = 0;
    for (const RoundJob& each : jobs_) {
      run_.start_s.push_back(each.start_s);
      run_.jct_s.push_back(each.jct_s);
      run_.alone_s.push_back(each.alone_s);
      run_.finish_time_fairness.push_back(rounded(each.jct_s / (each.alone_s * contention)));
      sum_s += each.jct_s;
    }
    run_.mean_jct_s = sum_s / static_cast<double>(jobs_.size());
    double busy = 0;
    for (const double busy_s : busy_s_) busy += rounded(busy_s / now_s_);
    run_.utilization = busy / static_cast<double>(busy_s_.size());
  }

  const ShockwaveInputs& inputs_;
  GavelPolicy policy_;
  const RealGpus& real_;
  base::Random draws_;
  std::vector<RoundJob> jobs_;
  std::vector<int32_t> active_;   ///< ascending
  std::vector<int32_t> running_;  ///< of the last round, in the order of its line
  size_t next_ = 0;               ///< to be admitted
  int64_t round_ = 0;
  double now_s_ = 0;
  double start_s_ = 0;
  std::optional<double> end_s_;
  double computed_s_ = 0;
  double all_used_s_ = 0;
  bool dirty_ = true;
  std::vector<double> busy_s_;  ///< by GPU
  std::vector<char> taken_;     ///< by GPU, in this round
  ShockwaveRun run_;
};

}  // namespace

Result<ShockwaveRun> run_shockwave(const ShockwaveInputs& inputs, GavelPolicy policy,
                                   const RealGpus& real) {
  return RoundSimulator(inputs, policy, real).run();
}

}  // namespace goban::study::rivals
