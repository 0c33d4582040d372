#include "study/results/account_metrics.hpp"

#include <algorithm>
#include <tuple>

namespace goban::study::results {
namespace {

constexpr double kShortestRun_s = 10;

/// True if the table has a name other than the empty one.
bool names_any(const base::NameTable& names) {
  return names.size() > 1 || (names.size() == 1 && !names[0].empty());
}

}  // namespace

double bounded_slowdown(const core::model::Job& job, double jct_s) {
  double run_s = job.work_s;
  if (job.request.walltime_limit_ns > 0) {
    run_s = std::min(run_s, base::to_seconds(job.request.walltime_limit_ns));
  }
  return std::max(1.0, jct_s / std::max(run_s, kShortestRun_s));
}

std::vector<AccountMetrics> measure_accounts(const core::model::JobHistory& history,
                                             const simulator::SimulationResult& result,
                                             base::TimeNs counted_from_ns) {
  const bool by_account = names_any(history.accounts);
  const base::NameTable& names = by_account ? history.accounts : history.users;
  if (!by_account && !names_any(history.users)) return {};
  std::vector<AccountMetrics> accounts(names.size());
  for (AccountMetrics& account : accounts) account.avg_slowdown = 0;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    if (job.request.submit_ns < counted_from_ns) continue;
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const size_t id = by_account ? job.request.account.index() : job.request.user.index();
    const double jct_s = base::to_seconds(outcome.finish_ns - job.request.submit_ns);
    const double held_s = base::to_seconds(outcome.held_ns);
    AccountMetrics& account = accounts[id];
    ++account.jobs;
    account.avg_wait_s += jct_s - held_s;
    account.avg_slowdown += bounded_slowdown(job, jct_s);
    account.gpu_hours += result.held_gpu_s(i, job.request.num_gpus) / 3600;
  }
  for (size_t id = 0; id < accounts.size(); ++id) {
    AccountMetrics& account = accounts[id];
    account.name = names[id];
    account.avg_wait_s /= static_cast<double>(std::max<int64_t>(1, account.jobs));
    account.avg_slowdown /= static_cast<double>(std::max<int64_t>(1, account.jobs));
  }
  std::erase_if(accounts, [](const AccountMetrics& account) { return account.jobs == 0; });
  std::ranges::sort(accounts, [](const AccountMetrics& a, const AccountMetrics& b) {
    return std::tie(b.avg_slowdown, a.name) < std::tie(a.avg_slowdown, b.name);
  });
  return accounts;
}

}  // namespace goban::study::results
