#include "study/results/run_recorder.hpp"

#include <gmock/gmock.h>

#include "core/model/cluster_presets.hpp"

namespace goban::study::results {
namespace {

using testing::ElementsAre;

TimeNs seconds_ns(double seconds) { return base::from_seconds(seconds); }

core::model::Job job(double submit_s, int32_t gpus, double work_s) {
  core::model::Job result;
  result.request.submit_ns = seconds_ns(submit_s);
  result.request.num_gpus = gpus;
  result.work_s = work_s;
  return result;
}

class CountingObserver final : public simulator::Observer {
 public:
  void decided(const core::scheduler::Decision&, const core::scheduler::Core&) override {
    ++decisions;
  }
  void acted(TimeNs, const core::model::Action&, const core::scheduler::Core&) override {
    ++actions;
  }
  void job_ended(TimeNs, core::model::JobId, simulator::JobEnd) override { ++ends; }
  void ended(TimeNs) override { ++runs; }
  int decisions = 0;
  int actions = 0;
  int ends = 0;
  int runs = 0;
};

struct Recorded {
  core::model::JobHistory history;
  core::model::Cluster cluster;
  HeatRows rows;
  CountingObserver next;
  std::unique_ptr<RunRecorder> recorder;
  simulator::SimulationResult result;
};

std::unique_ptr<Recorded> record(const char* policy, const std::vector<core::model::Job>& jobs) {
  auto run = std::make_unique<Recorded>();
  for (const core::model::Job& job : jobs) run->history.jobs.push_back(job);
  run->cluster = core::model::make_preset("2x2").value();
  run->rows = heat_rows(run->cluster, 16);
  run->recorder = std::make_unique<RunRecorder>(run->history, run->rows, &run->next);
  const auto scores = core::knowledge::PmScores::uniform(run->cluster.num_gpus());
  const core::knowledge::LocalityPenalties penalties(run->cluster, 1.0);
  const core::policy::SpeedModel speed{&run->cluster, &scores, &penalties};
  const auto composition = core::policy::compose(policy).value();
  simulator::SimulationOptions options;
  options.settings = composition.settings;
  options.settings.restart_cost_s = 0;
  options.observer = run->recorder.get();
  run->result = simulator::simulate(run->history, speed, composition, options).value();
  return run;
}

std::vector<double> row_of(const TimeBins& bins, size_t row, TimeNs end_ns) {
  std::vector<double> values;
  for (size_t bin = 0; bin < bins.bins_until(end_ns); ++bin) {
    values.push_back(bins.mean(row, bin, end_ns));
  }
  return values;
}

TEST(RunRecorder, SeesWaitingJobsAndHeldGpus) {
  // The first job takes all four GPUs from 10 to 13; the others wait for it.
  const auto run = record("fifo+packed", {job(10, 4, 3), job(11, 2, 2), job(12.5, 1, 1)});
  const TimeNs end = run->recorder->end_ns();
  EXPECT_EQ(end, seconds_ns(15));
  const TimeBins& curves = run->recorder->curves();
  EXPECT_THAT(row_of(curves, RunRecorder::kHeld, end), ElementsAre(4, 4, 4, 3, 2));
  EXPECT_THAT(row_of(curves, RunRecorder::kWaiting, end), ElementsAre(0, 1, 1.5, 0, 0));
}

TEST(RunRecorder, HeldGpusOfAllRowsAreTheHeldGpus) {
  std::vector<core::model::Job> jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(job(i * 400, 1 + i % 4, 1000 + 130 * (i % 7)));
  const auto run = record("las+packed", jobs);
  EXPECT_GT(std::ranges::count_if(run->result.outcomes,
                                  [](const auto& outcome) { return outcome.preemptions > 0; }),
            0)
      << "the case must have preemptions to mean anything";
  const TimeNs end = run->recorder->end_ns();
  const TimeBins& curves = run->recorder->curves();
  run->recorder->widen(seconds_ns(600), seconds_ns(600));
  double gpu_s = 0;
  for (size_t bin = 0; bin < curves.bins_until(end); ++bin) {
    double rows = 0;
    for (size_t row = 0; row < 4; ++row) rows += run->recorder->heat().mean(row, bin, end);
    const double held = curves.mean(RunRecorder::kHeld, bin, end);
    EXPECT_NEAR(rows, held, 1e-9);
    gpu_s += held * base::to_seconds(std::min(curves.width_ns(),
                                              end - static_cast<TimeNs>(bin) * curves.width_ns()));
  }
  EXPECT_NEAR(gpu_s, run->result.busy_gpu_s, 1e-6);
}

TEST(RunRecorder, WaitingTimeIsTheWaitOfTheJobs) {
  std::vector<core::model::Job> jobs;
  double wait_s = 0;
  for (int i = 0; i < 60; ++i) jobs.push_back(job(i * 400, 1 + i % 4, 1000 + 130 * (i % 7)));
  const auto run = record("las+packed", jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const simulator::JobOutcome& outcome = run->result.outcomes[i];
    wait_s += base::to_seconds(outcome.finish_ns - jobs[i].request.submit_ns - outcome.held_ns);
  }
  const TimeNs end = run->recorder->end_ns();
  run->recorder->widen(seconds_ns(86400), seconds_ns(86400));
  EXPECT_NEAR(run->recorder->curves().mean(RunRecorder::kWaiting, 0, end) * base::to_seconds(end),
              wait_s, 1e-6);
}

TEST(RunRecorder, PassesEverythingOn) {
  const auto run = record("fifo+packed", {job(0, 4, 3), job(1, 2, 2)});
  EXPECT_EQ(run->next.actions, 2);
  EXPECT_EQ(run->next.ends, 2);
  EXPECT_EQ(run->next.runs, 1);
  EXPECT_EQ(run->next.decisions, run->result.decisions);
}

TEST(HeatRows, AreGpusNodesOrGroupsOfNodes) {
  const core::model::Cluster cluster = core::model::make_preset("5x2").value();
  const HeatRows gpus = heat_rows(cluster, 10);
  EXPECT_EQ(gpus.kind, "gpu");
  EXPECT_EQ(gpus.labels.size(), 10U);
  const HeatRows nodes = heat_rows(cluster, 9);
  EXPECT_EQ(nodes.kind, "node");
  EXPECT_THAT(nodes.gpus, ElementsAre(2, 2, 2, 2, 2));
  EXPECT_THAT(nodes.of_gpu, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4));
  const HeatRows groups = heat_rows(cluster, 4);
  EXPECT_EQ(groups.kind, "nodes");
  EXPECT_THAT(groups.gpus, ElementsAre(4, 4, 2));
  EXPECT_THAT(groups.of_gpu, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 2, 2));
}

}  // namespace
}  // namespace goban::study::results
