// Runs in which restarts cost more than the time between two decisions: jobs work all the same, and
// a run in which nothing works ends with an error.
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {
namespace {

/// 5 nodes of 2 GPUs, and jobs of 2, 4 and 6 GPUs that need them all several times over.
struct CrowdedRun {
  explicit CrowdedRun(std::string_view policy)
      : composition(core::policy::compose(policy).value()) {
    for (uint32_t i = 0; i < 12; ++i) {
      core::model::Job job;
      job.request.submit_ns = base::from_seconds(10.0 * i);
      job.request.num_gpus = static_cast<int32_t>(2 + (i % 3) * 2);
      job.work_s = 600.0 + 60 * i;
      history.jobs.push_back(job);
      history.job_names.add(std::to_string(i));
    }
    options.settings = composition.settings;
    for (size_t i = 0; i < cluster.num_gpus(); ++i) raw.push_back(i % 3 == 0 ? 1.3 : 1.0);
    scores.emplace(std::vector{core::knowledge::class_from_values(raw, raw)});
    penalties.emplace(cluster, 1.0);
  }
  base::Result<SimulationResult> simulate() {
    return simulator::simulate(history, {&cluster, &*scores, &*penalties}, composition, options);
  }

  core::model::Cluster cluster = core::model::make_preset("5x2").value();
  std::vector<double> raw;
  std::optional<core::knowledge::PmScores> scores;
  std::optional<core::knowledge::LocalityPenalties> penalties;
  core::model::JobHistory history;
  core::policy::Composition composition;
  SimulationOptions options;
};

class EveryRunEnds : public testing::TestWithParam<std::tuple<const char*, double, double>> {};

TEST_P(EveryRunEnds, ThoughARestartCostsMoreThanARound) {
  const auto [policy, round_s, restart_cost_s] = GetParam();
  CrowdedRun run(policy);
  run.options.settings.round_s = round_s;
  run.options.settings.restart_cost_s = restart_cost_s;
  const auto result = run.simulate();
  ASSERT_TRUE(result) << result.error().message;
  for (size_t i = 0; i < run.history.jobs.size(); ++i) {
    const JobOutcome& outcome = result->outcomes[i];
    EXPECT_EQ(outcome.end, JobEnd::Finished);
    // A launch that costs more than a quantum is held until it has worked for a quantum.
    const double quantum_s = round_s > 0 ? round_s : 360;
    if (restart_cost_s < quantum_s) continue;
    const double launches = 1.3 * run.history.jobs[i].work_s / quantum_s + 1;
    EXPECT_LE(base::to_seconds(outcome.held_ns), launches * (restart_cost_s + quantum_s)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, EveryRunEnds,
    testing::Combine(testing::Values("las+any", "las+skip+any", "las+pal+non-sticky",
                                     "srtf+random+non-sticky", "fifo+random+non-sticky"),
                     testing::Values(0.0, 60.0), testing::Values(60.0, 120.0, 360.0, 600.0)));

TEST(JobOutcome, NeedsThirtyTwoBytes) {
  // Kept of every job, of which there may be many millions.
  EXPECT_EQ(sizeof(JobOutcome), 32);
}

TEST(JobInPieces, EndsToTheNanosecond) {
  // Twelve failures of its node stop the job, which keeps its work: 13 pieces.
  for (const double work_s : {10'000.1, 12'345.678901234, 33'333.333333333}) {
    for (const double restart_cost_s : {0.0, 0.3, 30.0}) {
      CrowdedRun run("fifo+any");
      core::model::Job only = run.history.jobs[0];
      only.work_s = work_s;
      run.history.jobs.resize(1);
      run.history.jobs.put(0, only);
      run.raw.assign(run.cluster.num_gpus(), 1.0);
      run.scores.emplace(std::vector{core::knowledge::class_from_values(run.raw, run.raw)});
      run.options.settings.restart_cost_s = restart_cost_s;
      std::vector<core::model::Event> incidents;
      for (int64_t stop = 1; stop <= 12; ++stop) {
        for (uint32_t node = 0; node < run.cluster.nodes().size(); ++node) {
          core::model::Event event;
          event.kind = core::model::EventKind::NodeClosed;
          event.at_ns = stop * 700'100'000'007;
          event.node = core::model::NodeId(node);
          incidents.push_back(event);
        }
        for (uint32_t node = 0; node < run.cluster.nodes().size(); ++node) {
          core::model::Event event = incidents[incidents.size() - run.cluster.nodes().size()];
          event.kind = core::model::EventKind::NodeRestored;
          incidents.push_back(event);
        }
      }
      std::ranges::stable_sort(incidents, {}, &core::model::Event::at_ns);
      run.options.incidents = incidents;
      const auto result = run.simulate();
      ASSERT_TRUE(result) << result.error().message;
      const JobOutcome& outcome = result->outcomes[0];
      ASSERT_EQ(outcome.preemptions, 12);
      const base::TimeNs overhead_ns =
          base::from_seconds(result->overhead_gpu_s / run.history.jobs[0].request.num_gpus);
      EXPECT_EQ(outcome.finish_ns, base::from_seconds(work_s) + overhead_ns) << work_s;
    }
  }
}

TEST(StalledRun, EndsWithAnErrorThatSaysWhy) {
  CrowdedRun run("fifo+any");
  run.options.settings.restart_cost_s = 120;
  // Every node fails once a minute, so no restart is ever completed.
  std::vector<core::model::Event> incidents;
  for (int32_t minute = 1; minute <= 20'000; ++minute) {
    for (uint32_t node = 0; node < run.cluster.nodes().size(); ++node) {
      for (const auto kind :
           {core::model::EventKind::NodeLost, core::model::EventKind::NodeRestored}) {
        core::model::Event event;
        event.kind = kind;
        event.at_ns = base::from_seconds(60.0 * minute + (node * 2) +
                                         (kind == core::model::EventKind::NodeLost ? 0 : 1));
        event.node = core::model::NodeId(node);
        incidents.push_back(event);
      }
    }
  }
  run.options.incidents = incidents;
  run.options.checkpoint_interval_s = 3600;
  const auto result = run.simulate();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::BadData);
  EXPECT_NE(result.error().message.find("no job worked between"), std::string::npos);
  EXPECT_NE(result.error().message.find("its restart cost of 120 s"), std::string::npos);
}

}  // namespace
}  // namespace goban::study::simulator
