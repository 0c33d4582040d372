#include "study/results/jct_bounds.hpp"

#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

using core::knowledge::PmScores;

core::model::JobHistory history_of(std::initializer_list<std::array<double, 3>> jobs) {
  core::model::JobHistory history;
  for (const auto& [submit_s, gpus, work_s] : jobs) {
    core::model::Job job;
    job.request.submit_ns = base::from_seconds(submit_s);
    job.request.num_gpus = static_cast<int32_t>(gpus);
    job.work_s = work_s;
    history.jobs.push_back(job);
  }
  return history;
}

TEST(JctBounds, AreReachedWhereAllGpusGoToOneJob) {
  // SRPT: a until 20, c until 30, a until 110, b until 210.
  const auto history = history_of({{0, 2, 100}, {10, 2, 100}, {20, 2, 10}});
  const JctBounds bounds = jct_bounds(history, 2, PmScores::uniform(2));
  EXPECT_DOUBLE_EQ(bounds.no_wait_s, 70);
  EXPECT_DOUBLE_EQ(bounds.lower_s, (110.0 + 200 + 10) / 3);
}

TEST(JctBounds, NobodyWaitsOnAnEmptyCluster) {
  const auto history = history_of({{0, 1, 100}, {1000, 2, 50}, {1000, 0, 30}});
  const JctBounds bounds = jct_bounds(history, 64, PmScores::uniform(64));
  EXPECT_DOUBLE_EQ(bounds.no_wait_s, 60);
  EXPECT_DOUBLE_EQ(bounds.lower_s, 60);
}

TEST(JctBounds, HalfOfARunComesAfterItsMeanBusyTime) {
  // 100 jobs of one GPU and 100 s at once on 10 GPUs: the best mean is 550 s. SRPT on a machine ten
  // times as fast gives 505 s, the mean busy times 500 s, and 50 s more are the half of a run.
  core::model::JobHistory history;
  for (int i = 0; i < 100; ++i) history.jobs.push_back(history_of({{0, 1, 100}}).jobs[0]);
  EXPECT_NEAR(jct_bounds(history, 10, PmScores::uniform(10)).lower_s, 550, 1e-6);
}

TEST(JctBounds, EndWhereTimesAreRounded) {
  // Sums of such times lie between two doubles; the last rest of a job must not stay for ever.
  core::model::JobHistory history;
  for (int i = 0; i < 200; ++i) {
    const auto one = history_of({{98.1 + 63.7 * i, 1.0 + i % 3, 1000.0 / (7 + i % 11)}});
    history.jobs.push_back(one.jobs[0]);
    const JctBounds bounds = jct_bounds(history, 64, PmScores::uniform(64));
    ASSERT_GE(bounds.lower_s, bounds.no_wait_s);
  }
}

TEST(JctBounds, LimitsWarmUpAndFastGpusCount) {
  auto history = history_of({{0, 1, 1000}, {100, 1, 100}});
  EXPECT_DOUBLE_EQ(jct_bounds(history, 1, PmScores::uniform(1), 50 * base::kSecond).no_wait_s, 100);
  core::model::Job job = history.jobs[0];
  job.request.walltime_limit_ns = 300 * base::kSecond;
  history.jobs.put(0, job);
  EXPECT_DOUBLE_EQ(jct_bounds(history, 1, PmScores::uniform(1)).no_wait_s, 200);
  const std::vector<double> raw = {0.5, 2};
  const PmScores fast({core::knowledge::class_from_values(raw, raw)});
  EXPECT_DOUBLE_EQ(jct_bounds(history, 2, fast).no_wait_s, (300.0 + 50) / 2);
}

TEST(JctBounds, GapClosedIsAShareOfTheDistance) {
  const JctBounds bounds{.no_wait_s = 50, .lower_s = 100};
  EXPECT_DOUBLE_EQ(gap_closed(150, 200, bounds), 0.5);
  EXPECT_DOUBLE_EQ(gap_closed(250, 200, bounds), -0.5);
  EXPECT_DOUBLE_EQ(gap_closed(100, 100, bounds), 0);
  EXPECT_EQ(jct_bounds({}, 4, PmScores::uniform(4)).lower_s, 0);
}

}  // namespace
}  // namespace goban::study::results
