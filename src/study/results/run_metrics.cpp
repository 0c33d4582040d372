#include "study/results/run_metrics.hpp"

#include <algorithm>
#include <cmath>

namespace goban::study::results {

double percentile(std::vector<double>& values, double percent) {
  if (values.empty()) return 0;
  const double rank = percent / 100.0 * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(std::floor(rank));
  std::nth_element(values.begin(), values.begin() + low, values.end());
  const double below = values[static_cast<size_t>(low)];
  if (rank == std::floor(rank)) return below;
  const double above = *std::min_element(values.begin() + low + 1, values.end());
  return below + (above - below) * (rank - std::floor(rank));
}

namespace {

ElasticMetrics measure_elastic(const simulator::SimulationResult& result) {
  ElasticMetrics out;
  for (const simulator::ElasticOutcome& job : result.elastic) {
    out.jobs += job.gpus_min > 0 ? 1 : 0;
    out.resizes += job.resizes;
    out.resized += job.resizes > 0 ? 1 : 0;
    out.interpolated += job.interpolated ? 1 : 0;
  }
  return out;
}

}  // namespace

RunMetrics measure(const std::string& policy, const core::model::JobHistory& history,
                   uint32_t cluster_gpus, const simulator::SimulationResult& result,
                   base::TimeNs warmup_ns) {
  RunMetrics m;
  m.policy = policy;
  m.gpu_hours_lost = result.lost_gpu_s / 3600;
  m.gpu_hours_restarting = result.overhead_gpu_s / 3600;
  if (history.jobs.empty()) return m;

  std::vector<double> jct_s;
  jct_s.reserve(history.jobs.size());
  double jct_sum_s = 0;
  double wait_sum_s = 0;
  double held_gpu_s = 0;
  double ideal_gpu_s = 0;
  const base::TimeNs counted_from = history.jobs.front().request.submit_ns + warmup_ns;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const double job_gpu_s = result.held_gpu_s(i, job.request.num_gpus);
    const double requested_gpu_s = job.work_s * job.request.num_gpus;
    held_gpu_s += job_gpu_s;
    // On fewer GPUs than it requests an elastic job needs less GPU time; a job that is killed at
    // its limit has done no more than it held.
    const bool may_need_less =
        result.elastic_of(i).gpus_min > 0 || outcome.end == simulator::JobEnd::TimedOut;
    ideal_gpu_s += may_need_less ? std::min(requested_gpu_s, job_gpu_s) : requested_gpu_s;
    if (job.request.submit_ns < counted_from) continue;
    const base::TimeNs jct_ns = outcome.finish_ns - job.request.submit_ns;
    jct_s.push_back(base::to_seconds(jct_ns));
    jct_sum_s += jct_s.back();
    wait_sum_s += base::to_seconds(jct_ns - outcome.held_ns);
    m.preemptions += outcome.preemptions;
    m.timed_out += outcome.end == simulator::JobEnd::TimedOut ? 1 : 0;
  }
  m.jobs = static_cast<int64_t>(jct_s.size());
  const auto count = static_cast<double>(std::max<int64_t>(m.jobs, 1));
  m.avg_jct_s = jct_sum_s / count;
  m.avg_wait_s = wait_sum_s / count;
  m.p50_jct_s = percentile(jct_s, 50);
  m.p99_jct_s = percentile(jct_s, 99);
  m.makespan_s = base::to_seconds(result.end_ns - history.jobs.front().request.submit_ns);
  m.gpu_hours_consumed = held_gpu_s / 3600;
  m.gpu_hours_ideal = ideal_gpu_s / 3600;
  if (m.makespan_s > 0) {
    const double capacity_gpu_s = m.makespan_s * cluster_gpus;
    m.gpu_occupancy = result.busy_gpu_s / capacity_gpu_s;
    m.goodput = ideal_gpu_s / capacity_gpu_s;
  }
  m.promises = result.promises;
  if (!result.elastic.empty()) m.elastic = measure_elastic(result);
  auto accounts = measure_accounts(history, result, counted_from);
  if (!accounts.empty()) m.worst_account = std::move(accounts.front());
  return m;
}

}  // namespace goban::study::results
