#include "study/results/service_metrics.hpp"

#include <gtest/gtest.h>

namespace goban::study::results {
namespace {

using base::from_seconds;
using base::kSecond;

struct Replay {
  core::model::JobHistory history;
  simulator::SimulationResult result;

  core::model::TrainingFacts& add(const char* user, double work_s, double jct_s, double held_s) {
    core::model::Job job;
    job.request.num_gpus = 1;
    job.request.user = core::model::UserId(history.users.intern(user));
    job.work_s = work_s;
    history.jobs.push_back(job);
    simulator::JobOutcome outcome;
    outcome.start_ns = 0;
    outcome.finish_ns = from_seconds(jct_s);
    outcome.held_ns = from_seconds(held_s);
    outcome.end = simulator::JobEnd::Finished;
    result.outcomes.push_back(outcome);
    return history.training.emplace_back();
  }
};

TEST(ServiceMetrics, ByHand) {
  Replay run;
  run.add("u", 100, 200, 120) = {.deadline_ns = 199 * kSecond, .epochs = 4};
  run.add("u", 100, 100, 100) = {.deadline_ns = 100 * kSecond, .max_slowdown = 1};
  run.add("v", 100, 400, 100) = {.epochs = 1, .max_slowdown = 3.9F, .max_wait_ns = 299 * kSecond};
  run.add("v", 1, 20, 10) = {.max_wait_ns = 10 * kSecond};  // short jobs count as 10 s
  run.result.shared.resize(4);
  run.result.shared[1].moved = 2;
  run.result.shared[3].moved = 1;
  run.result.breakages.resize(4);
  const ServiceMetrics m = measure_service(run.history, run.result, nullptr);
  EXPECT_EQ(m.deadline_jobs, 2);
  EXPECT_EQ(m.deadline_misses, 1);
  EXPECT_EQ(m.moves, 3);
  EXPECT_EQ(m.broke_beside, 4);
  EXPECT_EQ(m.slowdown_misses, 1);
  EXPECT_EQ(m.wait_misses, 1) << "300 s of 299; 10 s of 10 is kept";
  EXPECT_DOUBLE_EQ(m.avg_epoch_s.value(), (30.0 + 100.0) / 2);
  EXPECT_DOUBLE_EQ(m.avg_slowdown, (2.0 + 1 + 4 + 2) / 4);
  EXPECT_DOUBLE_EQ(m.p99_slowdown, 2 + 2 * 0.97);
  EXPECT_DOUBLE_EQ(m.worst_user_slowdown, 3);
  EXPECT_EQ(m.worst_user, "v");
  EXPECT_DOUBLE_EQ(m.jain_index, 4.5 * 4.5 / (2 * (1.5 * 1.5 + 3 * 3)));
}

TEST(ServiceMetrics, AKilledJobMissesItsDeadline) {
  Replay run;
  run.add("u", 100, 50, 50) = {.deadline_ns = 500 * kSecond, .epochs = 5};
  run.result.outcomes[0].end = simulator::JobEnd::TimedOut;
  const ServiceMetrics m = measure_service(run.history, run.result, nullptr);
  EXPECT_EQ(m.deadline_misses, 1);
  EXPECT_FALSE(m.avg_epoch_s.has_value()) << "it did not do its epochs";
}

TEST(ServiceMetrics, OneUserIsMeasuredByJobs) {
  Replay run;
  run.add("u", 100, 100, 100);
  run.add("u", 100, 300, 100);
  run.history.training.clear();
  const ServiceMetrics m = measure_service(run.history, run.result, nullptr);
  EXPECT_DOUBLE_EQ(m.jain_index, 16.0 / (2 * 10));
  EXPECT_DOUBLE_EQ(m.worst_user_slowdown, 2);
  EXPECT_EQ(m.deadline_jobs, 0);
  // The warm-up is not counted.
  core::model::Job later = run.history.jobs[1];
  later.request.submit_ns = 50 * kSecond;
  run.history.jobs.put(1, later);
  EXPECT_DOUBLE_EQ(measure_service(run.history, run.result, nullptr, 50 * kSecond).avg_slowdown,
                   2.5);
}

TEST(ServiceMetrics, NoJobs) {
  const ServiceMetrics m = measure_service({}, {}, nullptr);
  EXPECT_EQ(m.jain_index, 1);
  EXPECT_EQ(m.avg_slowdown, 0);
}

}  // namespace
}  // namespace goban::study::results
