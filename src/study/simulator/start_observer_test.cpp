#include "study/simulator/start_observer.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"

namespace goban::study::simulator {
namespace {

/// Ten users, each with run times of his own, on two nodes that are always busy.
struct BusyWeek {
  core::model::Cluster cluster = core::model::make_preset("2x4").value();
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(8);
  core::knowledge::LocalityPenalties penalties{cluster, 1.0};
  core::model::JobHistory history;

  BusyWeek() {
    constexpr int kJobs = 700;
    base::Random random(4);
    double now_s = 0;
    for (int i = 0; i < kJobs; ++i) {
      now_s += 2 * random.uniform() * 560;
      core::model::Job job;
      const auto user = static_cast<uint32_t>(random.below(10));
      job.work_s = 100 * std::exp(0.3 * user + 0.5 * random.uniform());
      job.request.user = core::model::UserId(history.users.intern("u" + std::to_string(user)));
      job.request.submit_ns = base::from_seconds(now_s);
      job.request.num_gpus = 4 * (1 + static_cast<int32_t>(random.below(2)));
      job.request.walltime_limit_ns = base::from_seconds(5 * job.work_s);
      history.jobs.push_back(job);
      history.job_names.add(std::to_string(i));
    }
  }
};

class StartCoverageTest : public testing::TestWithParam<const char*> {};

TEST_P(StartCoverageTest, FourFifthsStartInTheIntervalAndNothingChanges) {
  const BusyWeek week;
  const core::policy::SpeedModel speed{&week.cluster, &week.scores, &week.penalties};
  const auto composition = core::policy::compose(GetParam()).value();
  SimulationOptions options;
  options.settings = composition.settings;
  const SimulationResult alone = simulate(week.history, speed, composition, options).value();
  StartObserver observer(week.history, {.speed = speed, .composition = &composition}, nullptr);
  options.forecasts = true;
  options.observer = &observer;
  const SimulationResult watched = simulate(week.history, speed, composition, options).value();
  for (size_t i = 0; i < alone.outcomes.size(); ++i) {
    ASSERT_EQ(alone.outcomes[i].start_ns, watched.outcomes[i].start_ns) << i;
  }
  const StartCoverage coverage = observer.coverage();
  EXPECT_EQ(coverage.submitted, 700);
  EXPECT_GT(coverage.waited, 200);
  ASSERT_GT(coverage.judged, 50);
  EXPECT_EQ(coverage.inside + coverage.early + coverage.late, coverage.judged);
  const double inside = static_cast<double>(coverage.inside) / static_cast<double>(coverage.judged);
  EXPECT_GT(inside, 0.6);
  EXPECT_LT(inside, 0.95);
}

INSTANTIATE_TEST_SUITE_P(Policies, StartCoverageTest,
                         testing::Values("goban", "easy-backfill+packed", "fifo+any"));

}  // namespace
}  // namespace goban::study::simulator
