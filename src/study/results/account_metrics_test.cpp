#include "study/results/account_metrics.hpp"

#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

using base::from_seconds;

/// One GPU each: submission, work, walltime limit (0: none), start. A job ends when the work is
/// done or the limit is reached.
struct Replay {
  core::model::JobHistory history;
  simulator::SimulationResult result;
  void add(const char* account, const char* user, double submit_s, double work_s, double limit_s,
           double start_s) {
    core::model::Job job;
    job.request.num_gpus = 1;
    job.request.submit_ns = from_seconds(submit_s);
    job.request.walltime_limit_ns = from_seconds(limit_s);
    job.request.account = core::model::AccountId(history.accounts.intern(account));
    job.request.user = core::model::UserId(history.users.intern(user));
    job.work_s = work_s;
    history.jobs.push_back(job);
    simulator::JobOutcome outcome;
    outcome.start_ns = from_seconds(start_s);
    outcome.held_ns = from_seconds(limit_s > 0 ? std::min(limit_s, work_s) : work_s);
    outcome.finish_ns = outcome.start_ns + outcome.held_ns;
    result.outcomes.push_back(outcome);
  }
};

TEST(AccountMetrics, TheWorstServedComesFirst) {
  Replay run;
  run.add("physics", "u", 0, 100, 0, 0);       // slowdown 1
  run.add("biology", "v", 0, 50, 0, 100);      // 3
  run.add("biology", "w", 100, 1, 0, 140);     // 41 / 10: short jobs count as 10 s
  run.add("physics", "u", 100, 500, 50, 150);  // 100 / 50: killed at its limit
  const auto accounts = measure_accounts(run.history, run.result);
  ASSERT_EQ(accounts.size(), 2u);
  EXPECT_EQ(accounts[0].name, "biology");
  EXPECT_EQ(accounts[0].jobs, 2);
  EXPECT_DOUBLE_EQ(accounts[0].avg_slowdown, (3 + 4.1) / 2);
  EXPECT_DOUBLE_EQ(accounts[0].avg_wait_s, (100 + 40) / 2.0);
  EXPECT_DOUBLE_EQ(accounts[1].avg_slowdown, (1 + 2) / 2.0);
  EXPECT_DOUBLE_EQ(accounts[1].gpu_hours, 150 / 3600.0);
}

TEST(AccountMetrics, TheWarmUpDoesNotCount) {
  Replay run;
  run.add("physics", "u", 0, 10, 0, 900);
  run.add("physics", "u", 100, 10, 0, 100);
  const auto accounts = measure_accounts(run.history, run.result, from_seconds(50));
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0].jobs, 1);
  EXPECT_EQ(accounts[0].avg_slowdown, 1);
}

TEST(AccountMetrics, UsersStandInWhereThereAreNoAccounts) {
  Replay run;
  run.add("", "ann", 0, 10, 0, 0);
  run.add("", "bob", 0, 10, 0, 10);
  const auto accounts = measure_accounts(run.history, run.result);
  ASSERT_EQ(accounts.size(), 2u);
  EXPECT_EQ(accounts[0].name, "bob");
  Replay nameless;
  nameless.add("", "", 0, 10, 0, 0);
  EXPECT_TRUE(measure_accounts(nameless.history, nameless.result).empty());
}

}  // namespace
}  // namespace goban::study::results
