#include "study/results/service_metrics.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "study/results/account_metrics.hpp"
#include "study/results/run_metrics.hpp"

namespace goban::study::results {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;

/// (sum x)^2 / (n sum x^2) (Jain, Chiu and Hawe, DEC-TR-301, 1984).
double jain(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

/// Counts the service targets that a job missed.
void count_misses(const core::model::TrainingFacts& facts, const core::model::Job& job,
                  const simulator::JobOutcome& outcome, ServiceMetrics& out) {
  const base::TimeNs jct_ns = outcome.finish_ns - job.request.submit_ns;
  const bool finished = outcome.end == simulator::JobEnd::Finished;
  if (facts.deadline_ns >= 0) {
    ++out.deadline_jobs;
    out.deadline_misses += !finished || jct_ns > facts.deadline_ns ? 1 : 0;
  }
  if (facts.max_slowdown > 0) {
    const bool slow = base::to_seconds(jct_ns) > double{facts.max_slowdown} * job.work_s;
    out.slowdown_misses += !finished || slow ? 1 : 0;
  }
  if (facts.max_wait_ns >= 0) {
    out.wait_misses += jct_ns - outcome.held_ns > facts.max_wait_ns ? 1 : 0;
  }
}

/// Averages by user: the highest one, and Jain's index.
class ByUser {
 public:
  explicit ByUser(size_t users) : sum_(users), jobs_(users) {}

  void add(core::model::UserId user, double slowdown) {
    if (user.index() >= sum_.size()) return;
    sum_[user.index()] += slowdown;
    ++jobs_[user.index()];
  }

  void finish(const base::NameTable& names, const std::vector<double>& slowdowns,
              ServiceMetrics& out) const {
    std::vector<double> means;
    for (size_t user = 0; user < sum_.size(); ++user) {
      if (jobs_[user] == 0) continue;
      means.push_back(sum_[user] / static_cast<double>(jobs_[user]));
      if (means.back() <= out.worst_user_slowdown) continue;
      out.worst_user_slowdown = means.back();
      out.worst_user = names[user];
    }
    if (means.empty()) out.worst_user_slowdown = out.avg_slowdown;
    out.jain_index = jain(means.size() > 1 ? means : slowdowns);
  }

 private:
  std::vector<double> sum_;
  std::vector<int64_t> jobs_;
};

}  // namespace

ServiceMetrics measure_service(const core::model::JobHistory& history,
                               const simulator::SimulationResult& result,
                               const SharingRecorder* sharing, base::TimeNs counted_from_ns) {
  ServiceMetrics out;
  std::vector<double> slowdowns;
  ByUser users(history.users.size());
  double epoch_sum_s = 0;
  int64_t epoch_jobs = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    if (job.request.submit_ns < counted_from_ns) continue;
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const double jct_s = base::to_seconds(outcome.finish_ns - job.request.submit_ns);
    slowdowns.push_back(bounded_slowdown(job, jct_s));
    users.add(job.request.user, slowdowns.back());
    out.moves += result.shared_of(i).moved;
    if (history.training.empty()) continue;
    const core::model::TrainingFacts& facts = history.training[i];
    count_misses(facts, job, outcome, out);
    if (facts.epochs > 0 && outcome.end == simulator::JobEnd::Finished) {
      epoch_sum_s += base::to_seconds(outcome.held_ns) / facts.epochs;
      ++epoch_jobs;
    }
  }
  if (epoch_jobs > 0) out.avg_epoch_s = epoch_sum_s / static_cast<double>(epoch_jobs);
  if (!slowdowns.empty()) {
    out.avg_slowdown = std::accumulate(slowdowns.begin(), slowdowns.end(), 0.0) /
                       static_cast<double>(slowdowns.size());
  }
  out.broke_beside = std::ssize(result.breakages);
  users.finish(history.users, slowdowns, out);
  out.p99_slowdown = percentile(slowdowns, 99);
  if (sharing != nullptr) {
    out.undo_count = sharing->undo_count();
    out.predictions = sharing->predictions();
  }
  return out;
}

EnergyMetrics energy_metrics(const core::knowledge::EnergyAccount& account, size_t num_jobs) {
  EnergyMetrics out;
  for (size_t i = 0; i < out.kwh.size(); ++i) out.kwh[i] = account.totals[i].cluster_kwh();
  const auto end = account.job_j.begin() + static_cast<std::ptrdiff_t>(num_jobs);
  out.jobs_kwh = std::accumulate(account.job_j.begin(), end, 0.0) / kJoulesPerKwh;
  out.avg_active_nodes = account.avg_active_nodes;
  return out;
}

}  // namespace goban::study::results
