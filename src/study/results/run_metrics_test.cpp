#include "study/results/run_metrics.hpp"

#include <gtest/gtest.h>

#include "study/results/simulate_report.hpp"

namespace goban::study::results {
namespace {

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  std::vector<double> values = {40, 10, 30, 20};
  EXPECT_EQ(percentile(values, 0), 10);
  EXPECT_EQ(percentile(values, 100), 40);
  EXPECT_EQ(percentile(values, 50), 25);
  EXPECT_DOUBLE_EQ(percentile(values, 99), 30 + 0.97 * 10);
  std::vector<double> one = {7};
  EXPECT_EQ(percentile(one, 99), 7);
  std::vector<double> none;
  EXPECT_EQ(percentile(none, 50), 0);
}

TEST(RunMetrics, FollowTheirDefinitions) {
  core::model::JobHistory history;
  simulator::SimulationResult result;
  const auto add = [&](double submit, double finish, double held, int32_t gpus, double work) {
    core::model::Job job;
    job.request.submit_ns = base::from_seconds(submit);
    job.request.num_gpus = gpus;
    job.work_s = work;
    history.jobs.push_back(job);
    simulator::JobOutcome outcome;
    outcome.finish_ns = base::from_seconds(finish);
    outcome.held_ns = base::from_seconds(held);
    outcome.preemptions = 2;
    outcome.end = simulator::JobEnd::Finished;
    result.outcomes.push_back(outcome);
  };
  add(10, 110, 60, 2, 50);
  add(20, 50, 30, 1, 30);
  result.end_ns = base::from_seconds(110);
  result.busy_gpu_s = 150;
  result.lost_gpu_s = 36;
  result.overhead_gpu_s = 18;
  const RunMetrics m = measure("p", history, 4, result);
  EXPECT_EQ(m.jobs, 2);
  EXPECT_EQ(m.avg_jct_s, 65);
  EXPECT_EQ(m.p50_jct_s, 65);
  EXPECT_EQ(m.avg_wait_s, 20);
  EXPECT_EQ(m.makespan_s, 100);
  EXPECT_EQ(m.gpu_hours_consumed, (120.0 + 30.0) / 3600);
  EXPECT_EQ(m.gpu_hours_ideal, (100.0 + 30.0) / 3600);
  EXPECT_EQ(m.goodput, 130.0 / 400);
  EXPECT_EQ(m.gpu_occupancy, 150.0 / 400);
  EXPECT_EQ(m.preemptions, 4);
  EXPECT_EQ(m.gpu_hours_lost, 0.01);
  EXPECT_EQ(m.gpu_hours_restarting, 0.005);
  // The second one was killed at its limit of 20 s.
  simulator::JobOutcome& second = result.outcomes[1];
  second.end = simulator::JobEnd::TimedOut;
  second.held_ns = base::from_seconds(20);
  EXPECT_EQ(measure("p", history, 4, result).gpu_hours_ideal, (100.0 + 20.0) / 3600);
  second.end = simulator::JobEnd::Finished;
  second.held_ns = base::from_seconds(30);
  // The first is elastic, and ran on one of the two GPUs that it requested.
  result.elastic = {{.gpus_min = 1, .gpus_max = 1, .held_gpu_s = 60}, {}};
  const RunMetrics shrunk = measure("p", history, 4, result);
  EXPECT_EQ(shrunk.gpu_hours_ideal, (60.0 + 30.0) / 3600) << "no more than it held";
  EXPECT_EQ(shrunk.goodput, 90.0 / 400);
}

TEST(RunMetrics, PromisesAreNamedIfSomeWereMissed) {
  RunMetrics kept;
  kept.policy = "a";
  kept.promises = {.made = 8};
  RunMetrics missed = kept;
  missed.policy = "b";
  missed.promises = {.made = 8, .late = 1, .late_p95_s = 90};
  EXPECT_EQ(promises_lines({kept}), "");
  EXPECT_EQ(promises_lines({kept, missed}),
            "\nPromised starts that were missed:\n"
            "  b: 1 of 8 promised starts (12.5 %) late; 95 % of these by at most 90.0 s\n");
}

TEST(RunMetrics, JobsKilledAtTheirLimitAreNamedBesideResizesIfPoliciesDiffer) {
  RunMetrics kept;
  kept.policy = "a";
  kept.elastic = ElasticMetrics{.jobs = 3};
  RunMetrics killed = kept;
  killed.policy = "b";
  killed.timed_out = 1;
  EXPECT_EQ(elastic_lines({kept, kept}),
            "\nElastic jobs:\n  a: 0 resizes of 0 jobs, 3 elastic\n"
            "  a: 0 resizes of 0 jobs, 3 elastic\n");
  EXPECT_EQ(elastic_lines({kept, killed}),
            "\nElastic jobs:\n  a: 0 resizes of 0 jobs, 3 elastic; 0 jobs reached their walltime "
            "limit\n  b: 0 resizes of 0 jobs, 3 elastic; 1 job reached its walltime limit\n");
}

}  // namespace
}  // namespace goban::study::results
