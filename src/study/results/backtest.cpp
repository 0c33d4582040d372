#include "study/results/backtest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.hpp"
#include "base/time.hpp"

namespace goban::study::results {
namespace {

/// One compared job.
struct Pair {
  base::TimeNs submit_ns = 0;
  double recorded_wait_s = 0;
  double simulated_wait_s = 0;
  double recorded_jct_s = 0;
  double simulated_jct_s = 0;
};

/// Sums of one day. Sums over days are sums of these, so a resample costs a few additions.
struct DaySums {
  double recorded_wait_s = 0;
  double simulated_wait_s = 0;
  double recorded_jct_s = 0;
  double simulated_jct_s = 0;

  DaySums& operator+=(const DaySums& more) {
    recorded_wait_s += more.recorded_wait_s;
    simulated_wait_s += more.simulated_wait_s;
    recorded_jct_s += more.recorded_jct_s;
    simulated_jct_s += more.simulated_jct_s;
    return *this;
  }
};

std::optional<double> relative_error(double simulated, double recorded) {
  if (simulated == recorded) return 0.0;
  if (recorded == 0) return std::nullopt;
  return (simulated - recorded) / recorded;
}

std::vector<Pair> pairs_of(const core::model::JobHistory& history,
                           const simulator::SimulationResult& result,
                           const BacktestOptions& options, Backtest& out) {
  std::vector<Pair> pairs;
  if (history.jobs.empty()) return pairs;
  const base::TimeNs counted_from = history.jobs.front().request.submit_ns + options.warmup_ns;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    const base::TimeNs submit = job.request.submit_ns;
    if (submit < counted_from) {
      ++out.in_warmup;
      continue;
    }
    const core::model::Recorded recorded =
        history.recorded.empty() ? core::model::Recorded{} : history.recorded[i];
    if (recorded.start_ns < 0) {
      ++out.without_start;
      continue;
    }
    const simulator::JobOutcome& outcome = result.outcomes[i];
    Pair& pair = pairs.emplace_back();
    pair.submit_ns = submit;
    pair.recorded_wait_s = base::to_seconds(recorded.start_ns - submit);
    pair.simulated_wait_s = base::to_seconds(outcome.start_ns - submit);
    pair.recorded_jct_s = recorded.finish_ns >= 0 ? base::to_seconds(recorded.finish_ns - submit)
                                                  : pair.recorded_wait_s + job.work_s;
    pair.simulated_jct_s = base::to_seconds(outcome.finish_ns - submit);
  }
  return pairs;
}

std::vector<DaySums> days_of(const std::vector<Pair>& pairs) {
  std::map<base::TimeNs, DaySums> days;
  for (const Pair& pair : pairs) {
    days[(pair.submit_ns - pairs.front().submit_ns) / base::kDay] +=
        {pair.recorded_wait_s, pair.simulated_wait_s, pair.recorded_jct_s, pair.simulated_jct_s};
  }
  std::vector<DaySums> sums;
  for (const auto& [day, sum] : days) sums.push_back(sum);
  return sums;
}

/// Confidence interval from the errors of the resamples; none if one of them has no error.
void set_interval(MeanError& mean, std::vector<std::optional<double>>& errors) {
  constexpr double kLowPercent = 2.5;
  constexpr double kHighPercent = 97.5;
  std::vector<double> values;
  for (const std::optional<double>& error : errors) {
    if (!error) return;
    values.push_back(*error);
  }
  mean.low = percentile(values, kLowPercent);
  mean.high = percentile(values, kHighPercent);
}

void compare_means(const std::vector<Pair>& pairs, const BacktestOptions& options, Backtest& out) {
  const std::vector<DaySums> days = days_of(pairs);
  out.days = static_cast<int64_t>(days.size());
  DaySums all;
  for (const DaySums& day : days) all += day;
  const auto count = static_cast<double>(pairs.size());
  out.wait = {all.recorded_wait_s / count,
              all.simulated_wait_s / count,
              relative_error(all.simulated_wait_s, all.recorded_wait_s),
              {},
              {}};
  out.jct = {all.recorded_jct_s / count,
             all.simulated_jct_s / count,
             relative_error(all.simulated_jct_s, all.recorded_jct_s),
             {},
             {}};

  base::Random random(options.seed);
  std::vector<std::optional<double>> wait_errors;
  std::vector<std::optional<double>> jct_errors;
  for (int32_t resample = 0; resample < options.resamples; ++resample) {
    DaySums sum;
    for (size_t i = 0; i < days.size(); ++i) sum += days[random.below(days.size())];
    wait_errors.push_back(relative_error(sum.simulated_wait_s, sum.recorded_wait_s));
    jct_errors.push_back(relative_error(sum.simulated_jct_s, sum.recorded_jct_s));
  }
  if (options.resamples <= 0) return;
  set_interval(out.wait, wait_errors);
  set_interval(out.jct, jct_errors);
}

void measure_errors(const std::vector<Pair>& pairs, Backtest& out) {
  constexpr double kMinute_s = 60;
  constexpr double kTolerance = 0.1;
  std::vector<double> errors;
  int64_t minute = 0;
  int64_t five_minutes = 0;
  int64_t tenth = 0;
  double sum = 0;
  double sum_abs = 0;
  for (const Pair& pair : pairs) {
    const double error = pair.simulated_wait_s - pair.recorded_wait_s;
    errors.push_back(std::abs(error));
    sum += error;
    sum_abs += errors.back();
    minute += errors.back() <= kMinute_s ? 1 : 0;
    five_minutes += errors.back() <= 5 * kMinute_s ? 1 : 0;
    tenth += errors.back() <= kTolerance * pair.recorded_wait_s ? 1 : 0;
  }
  const auto count = static_cast<double>(pairs.size());
  out.error_mean_s = sum / count;
  out.error_abs_mean_s = sum_abs / count;
  out.error_abs_p50_s = percentile(errors, 50);
  out.error_abs_p90_s = percentile(errors, 90);
  out.within_1min = static_cast<double>(minute) / count;
  out.within_5min = static_cast<double>(five_minutes) / count;
  out.within_10percent = static_cast<double>(tenth) / count;
}

/// Ranks from 0; equal values share their mean rank.
std::vector<double> ranks(const std::vector<Pair>& pairs, double Pair::* value) {
  std::vector<uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t i) { return pairs[i].*value; });
  std::vector<double> out(pairs.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && pairs[order[end]].*value == pairs[order[begin]].*value) ++end;
    const double shared = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) out[order[i]] = shared;
    begin = end;
  }
  return out;
}

std::optional<double> spearman(const std::vector<Pair>& pairs) {
  const std::vector<double> a = ranks(pairs, &Pair::recorded_wait_s);
  const std::vector<double> b = ranks(pairs, &Pair::simulated_wait_s);
  const double mean = static_cast<double>(pairs.size() - 1) / 2;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

Gain gain_of(double value, double reference, const MeanError* error) {
  Gain out;
  if (reference > 0) out.gain = 1 - value / reference;
  if (error == nullptr) return out;
  out.error = error->bound();
  out.claimed = out.error && std::abs(out.gain) > *out.error;
  return out;
}

}  // namespace

std::optional<double> MeanError::bound() const {
  if (!relative || !low || !high) return std::nullopt;
  return std::max({std::abs(*relative), std::abs(*low), std::abs(*high)});
}

Backtest backtest(const std::string& policy, const core::model::JobHistory& history,
                  const simulator::SimulationResult& result, const BacktestOptions& options) {
  Backtest out;
  out.policy = policy;
  const std::vector<Pair> pairs = pairs_of(history, result, options, out);
  out.jobs = static_cast<int64_t>(pairs.size());
  if (pairs.empty()) return out;
  compare_means(pairs, options, out);
  measure_errors(pairs, out);
  out.rank_correlation = spearman(pairs);
  return out;
}

Gain jct_gain(const RunMetrics& run, const RunMetrics& reference,
              const std::optional<Backtest>& test) {
  return gain_of(run.avg_jct_s, reference.avg_jct_s, test ? &test->jct : nullptr);
}

Gain wait_gain(const RunMetrics& run, const RunMetrics& reference,
               const std::optional<Backtest>& test) {
  return gain_of(run.avg_wait_s, reference.avg_wait_s, test ? &test->wait : nullptr);
}

}  // namespace goban::study::results
