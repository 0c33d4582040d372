#include "study/history/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/date_time.hpp"
#include "base/time.hpp"

namespace goban::study::history {
namespace {

using core::model::Job;
using core::model::JobHistory;

constexpr double kHour_s = 3600;

double gpu_hours_of(const Job& job) { return job.work_s * job.request.num_gpus / kHour_s; }

/// Gini coefficient of values in ascending order: (2 sum i x_i / sum x - (n + 1)) / n, i from 1.
double gini_of(const std::vector<double>& ascending) {
  double sum = 0;
  double weighted = 0;
  for (size_t i = 0; i < ascending.size(); ++i) {
    sum += ascending[i];
    weighted += static_cast<double>(i + 1) * ascending[i];
  }
  const auto n = static_cast<double>(ascending.size());
  return sum > 0 ? (2 * weighted / sum - (n + 1)) / n : 0;
}

/// `shares` by index of the name; the empty name means that none is given.
Consumers rank(std::vector<Share> shares) {
  std::erase_if(shares, [](const Share& share) { return share.name.empty() || share.jobs == 0; });
  std::ranges::stable_sort(shares, std::ranges::greater{}, [](const Share& share) {
    return std::pair(share.gpu_hours, share.jobs);
  });
  Consumers result;
  result.count = static_cast<int64_t>(shares.size());
  std::vector<double> ascending;
  double sum = 0;
  for (const Share& share : shares) {
    ascending.push_back(share.gpu_hours);
    sum += share.gpu_hours;
  }
  const size_t few = (shares.size() * 6 + 99) / 100;
  for (size_t i = 0; i < few && sum > 0; ++i) {
    result.top_6_percent_share += ascending[i] / sum;
  }
  std::ranges::reverse(ascending);
  result.gini = gini_of(ascending);
  shares.resize(std::min(shares.size(), Consumers::kTop));
  result.top = std::move(shares);
  return result;
}

template <typename IdOf>
Consumers consumers(const JobHistory& history, const base::NameTable& names, IdOf id_of) {
  std::vector<Share> shares(names.size());
  for (size_t i = 0; i < names.size(); ++i) shares[i].name = names[i];
  for (const Job& job : history.jobs) {
    Share& share = shares[id_of(job.request).index()];
    ++share.jobs;
    share.gpu_hours += gpu_hours_of(job);
  }
  return rank(std::move(shares));
}

void count_arrivals(const JobHistory& history, HistorySummary& summary) {
  constexpr int64_t kThursday = 3;  // 1970-01-01
  const int64_t first_day = summary.unix_times ? kThursday : 0;
  for (const Job& job : history.jobs) {
    const int64_t submit_ns = job.request.submit_ns;
    ++summary.by_hour[static_cast<size_t>(submit_ns / base::kHour % 24)];
    ++summary.by_weekday[static_cast<size_t>((submit_ns / base::kDay + first_day) % 7)];
  }
}

void measure_times(const JobHistory& history, HistorySummary& summary) {
  const bool gpus_only = summary.cpu_jobs < summary.jobs;
  std::vector<double> durations_s;
  std::vector<double> waits_s;
  std::vector<double> limits_s;
  std::vector<double> accuracies;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const Job& job = history.jobs[i];
    if (gpus_only && job.request.num_gpus == 0) continue;
    durations_s.push_back(job.work_s);
    if (!history.recorded.empty() && history.recorded[i].start_ns >= 0) {
      waits_s.push_back(base::to_seconds(history.recorded[i].start_ns - job.request.submit_ns));
    }
    if (job.request.walltime_limit_ns > 0) {
      limits_s.push_back(base::to_seconds(job.request.walltime_limit_ns));
      accuracies.push_back(job.work_s / limits_s.back());
    }
  }
  summary.duration_s = quantiles_of(std::move(durations_s));
  summary.wait_s = quantiles_of(std::move(waits_s));
  summary.walltime_limit_s = quantiles_of(std::move(limits_s));
  summary.request_accuracy = quantiles_of(std::move(accuracies));
}

}  // namespace

SampleQuantiles quantiles_of(std::vector<double> values) {
  SampleQuantiles result;
  result.count = static_cast<int64_t>(values.size());
  if (values.empty()) return result;
  std::ranges::sort(values);
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.sd = std::sqrt(squares / (n - 1));
  for (size_t q = 0; q < kQuantilesPercent.size(); ++q) {
    const double position = (n - 1) * kQuantilesPercent[q] / 100;
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, values.size() - 1);
    const double part = position - std::floor(position);
    result.quantiles[q] = values[below] + part * (values[above] - values[below]);
  }
  return result;
}

HistorySummary summarise(const JobHistory& history) {
  HistorySummary summary;
  summary.jobs = static_cast<int64_t>(history.jobs.size());
  if (history.jobs.empty()) return summary;
  summary.first_submit_ns = history.jobs.front().request.submit_ns;
  summary.last_submit_ns = history.jobs.back().request.submit_ns;
  summary.unix_times = summary.first_submit_ns >= base::kUnixTimesFrom;
  std::map<int32_t, SizeShare> sizes;
  for (const Job& job : history.jobs) {
    SizeShare& size = sizes[job.request.num_gpus];
    size.num_gpus = job.request.num_gpus;
    ++size.jobs;
    size.gpu_hours += gpu_hours_of(job);
    summary.gpu_hours += gpu_hours_of(job);
  }
  for (const auto& [num_gpus, size] : sizes) summary.sizes.push_back(size);
  if (sizes.contains(0)) summary.cpu_jobs = sizes[0].jobs;
  summary.users =
      consumers(history, history.users, [](const core::model::JobRequest& r) { return r.user; });
  summary.accounts = consumers(history, history.accounts,
                               [](const core::model::JobRequest& r) { return r.account; });
  summary.partitions = consumers(history, history.partitions,
                                 [](const core::model::JobRequest& r) { return r.partition; });
  measure_times(history, summary);
  for (const core::model::Recorded& recorded : history.recorded) {
    ++summary.ends[static_cast<size_t>(recorded.end)];
  }
  if (history.recorded.empty()) summary.ends[0] = summary.jobs;
  count_arrivals(history, summary);
  if (summary.last_submit_ns > summary.first_submit_ns) {
    const double span_s = base::to_seconds(summary.last_submit_ns - summary.first_submit_ns);
    summary.offered_gpus = summary.gpu_hours * kHour_s / span_s;
  }
  return summary;
}

}  // namespace goban::study::history
