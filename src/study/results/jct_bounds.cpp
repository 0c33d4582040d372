#include "study/results/jct_bounds.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

namespace goban::study::results {
namespace {

/// A job on a single machine that does one GPU-second of work per second and GPU of the cluster.
struct Demand {
  double release_s = 0;
  double volume_s = 0;  ///< machine seconds: run time x GPUs / GPUs of the cluster
};

enum class Rule : uint8_t {
  ShortestRemaining,  ///< SRPT: least remaining volume first
  Smallest,           ///< least total volume first
};

/// Mean over the jobs of a figure of the preemptive single-machine schedule under `rule`: of
/// ShortestRemaining the completion time, of Smallest the mean busy time (the average of the times
/// at which the job is worked on). Both count from the job's release.
double single_machine(const std::vector<Demand>& jobs, Rule rule) {
  struct Active {
    double key = 0;
    size_t job = 0;
    double left_s = 0;
    bool operator>(const Active& other) const {
      return std::pair(key, job) > std::pair(other.key, other.job);
    }
  };
  std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
  double now_s = 0;
  double sum_s = 0;
  size_t next = 0;
  while (next < jobs.size() || !active.empty()) {
    if (active.empty()) now_s = std::max(now_s, jobs[next].release_s);
    for (; next < jobs.size() && jobs[next].release_s <= now_s; ++next) {
      active.push({.key = jobs[next].volume_s, .job = next, .left_s = jobs[next].volume_s});
    }
    Active job = active.top();
    active.pop();
    const Demand& demand = jobs[job.job];
    const bool done = next == jobs.size() || job.left_s <= jobs[next].release_s - now_s;
    const double step_s = done ? job.left_s : jobs[next].release_s - now_s;
    if (rule == Rule::Smallest && demand.volume_s > 0) {
      sum_s += (now_s + step_s / 2 - demand.release_s) * (step_s / demand.volume_s);
    } else if (rule == Rule::ShortestRemaining && done) {
      sum_s += now_s + step_s - demand.release_s;
    }
    now_s = done ? now_s + step_s : jobs[next].release_s;
    if (done) continue;
    job.left_s -= step_s;
    if (rule == Rule::ShortestRemaining) job.key = job.left_s;
    active.push(job);
  }
  return sum_s / static_cast<double>(jobs.size());
}

}  // namespace

JctBounds jct_bounds(const core::model::JobHistory& history, uint32_t cluster_gpus,
                     const core::knowledge::PmScores& scores, base::TimeNs warmup_ns) {
  JctBounds out;
  if (history.jobs.empty() || cluster_gpus == 0) return out;
  std::vector<double> fastest(scores.num_classes(), 1);
  for (size_t i = 0; i < fastest.size(); ++i) {
    const auto& raw = scores.of(core::model::AppClass{static_cast<uint8_t>(i)}).raw;
    fastest[i] = std::min(1.0, *std::ranges::min_element(raw));
  }
  const base::TimeNs first_ns = history.jobs.front().request.submit_ns;
  std::vector<Demand> jobs;
  jobs.reserve(history.jobs.size());
  double run_sum_s = 0;
  for (const core::model::Job& job : history.jobs) {
    if (job.request.submit_ns < first_ns + warmup_ns) continue;
    double run_s = job.work_s * fastest[scores.index(job.request.app_class)];
    if (job.request.walltime_limit_ns > 0) {
      run_s = std::min(run_s, base::to_seconds(job.request.walltime_limit_ns));
    }
    run_sum_s += run_s;
    jobs.push_back({.release_s = base::to_seconds(job.request.submit_ns - first_ns),
                    .volume_s = run_s * job.request.num_gpus / cluster_gpus});
  }
  if (jobs.empty()) return out;
  out.no_wait_s = run_sum_s / static_cast<double>(jobs.size());
  out.lower_s = std::max({out.no_wait_s, single_machine(jobs, Rule::ShortestRemaining),
                          single_machine(jobs, Rule::Smallest) + out.no_wait_s / 2});
  return out;
}

double gap_closed(double jct_s, double reference_s, const JctBounds& bounds) {
  const double gap_s = reference_s - bounds.lower_s;
  return gap_s > 0 ? (reference_s - jct_s) / gap_s : 0;
}

}  // namespace goban::study::results
