// The policy goban in simulations: promised starts are kept whatever predictions say, preemption
// spares jobs that cannot restart, and forecasts know the past only.
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"
#include "study/simulator/run_forecasts.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {
namespace {

using core::model::Job;
using core::model::JobHistory;
using core::model::TimeNs;

struct PlayedRun {
  explicit PlayedRun(const char* preset) : cluster(core::model::make_preset(preset).value()) {}

  void add(double submit_s, int32_t gpus, double work_s, double limit_s, bool stays = false) {
    Job job;
    job.request.submit_ns = base::from_seconds(submit_s);
    job.request.num_gpus = gpus;
    job.request.walltime_limit_ns = base::from_seconds(limit_s);
    job.request.stays = stays;
    job.work_s = work_s;
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(history.jobs.size()));
  }
  SimulationResult play(std::string_view policy, Observer* observer = nullptr) {
    const auto scores = core::knowledge::PmScores::uniform(cluster.num_gpus());
    const core::knowledge::LocalityPenalties penalties(cluster, 1.0);
    auto composition = core::policy::compose(policy).value();
    composition.options.backfill.late_bound_s = late_bound_s;
    options.settings = composition.settings;
    options.observer = observer;
    return simulate(history, {&cluster, &scores, &penalties}, composition, options).value();
  }

  core::model::Cluster cluster;
  JobHistory history;
  SimulationOptions options;
  double late_bound_s = 0;
};

/// Notes the first promise of each job, and the starts that are later.
class PromiseWatch final : public Observer {
 public:
  void decided(const core::scheduler::Decision&, const core::scheduler::Core& core) override {
    const auto& promise = core.state().head_promise();
    if (promise.job.valid()) promised_.try_emplace(promise.job, promise.at_ns);
  }
  [[nodiscard]] int64_t promised() const { return static_cast<int64_t>(promised_.size()); }
  [[nodiscard]] int64_t late(const SimulationResult& result, TimeNs bound_ns = 0) const {
    return std::ranges::count_if(promised_, [&](const auto& each) {
      return result.outcomes[each.first.index()].start_ns > each.second + bound_ns;
    });
  }

 private:
  std::map<JobId, TimeNs> promised_;
};

TEST(PromiseBackfill, NobodyStartsLaterThanPromised) {
  int64_t promised = 0;
  EXPECT_TRUE(rc::check([&] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    PlayedRun run("4x4");
    double submit_s = 0;
    for (int i = 0; i < 120; ++i) {
      submit_s += static_cast<double>(random.below(60));
      const double work_s =
          static_cast<double>(1 + random.below(random.below(5) == 0 ? 3000 : 300));
      const auto gpus = static_cast<int32_t>(uint64_t{1} << random.below(5));
      run.add(submit_s, gpus, work_s, work_s * (1 + 9 * random.uniform()) + 1);
    }
    const bool pal = random.below(2) == 0;
    PromiseWatch watch;
    const auto result = run.play(pal ? "expansion+promise-backfill+non-preemptive+pal-tight"
                                     : "fifo+promise-backfill+packed",
                                 &watch);
    RC_ASSERT(watch.late(result) == 0);
    promised += watch.promised();
  }));
  EXPECT_GT(promised, 100);
}

TEST(PromiseBackfill, FillsTheSlackOfRunsThatEndEarly) {
  // One GPU of two is held until 100 s (limit 1,000 s). The second job needs both: promised 1,000
  // s. The third may run for 900 s at most: before that.
  PlayedRun run("1x2");
  run.add(0, 1, 100, 1000);
  run.add(1, 2, 50, 100);
  run.add(2, 1, 300, 900);
  run.add(3, 1, 10, 998);  // would be at its limit 1 s too late
  const auto result = run.play("fifo+promise-backfill+packed");
  EXPECT_EQ(result.outcomes[2].start_ns, base::from_seconds(2));
  EXPECT_EQ(result.outcomes[1].start_ns, base::from_seconds(302));
  EXPECT_EQ(result.outcomes[3].start_ns, base::from_seconds(352));
}

TEST(PromiseBackfill, CountsPromisesThatPredictionsBroke) {
  // Twenty runs of 100 s teach; then one of 1,000 s holds the GPU, and the next job is promised a
  // start. With limits that is the end of the limit.
  for (const double limit_s : {0.0, 2000.0}) {
    PlayedRun run("1x1");
    for (int i = 0; i < 20; ++i) run.add(200.0 * i, 1, 100, limit_s);
    run.add(5000, 1, 1000, limit_s);
    run.add(5001, 1, 100, limit_s);
    const auto result = run.play("expansion+promise-backfill+non-preemptive+packed");
    EXPECT_EQ(result.outcomes[21].start_ns, base::from_seconds(6000));
    EXPECT_EQ(result.promises.made, 1);
    EXPECT_EQ(result.promises.late, limit_s > 0 ? 0 : 1);
    if (limit_s > 0) continue;
    EXPECT_GT(result.promises.late_p95_s, 500);
    EXPECT_LT(result.promises.late_p95_s, 1000);
  }
}

/// 200 jobs without limits: after those that teach, run times that nobody can predict.
void add_unpredictable(PlayedRun& run, base::Random& random) {
  double submit_s = 0;
  for (int i = 0; i < 200; ++i) {
    submit_s += static_cast<double>(random.below(40));
    const bool is_long = i >= 40 && random.below(6) == 0;
    const double work_s = static_cast<double>(1 + random.below(is_long ? 9000 : 200));
    run.add(submit_s, static_cast<int32_t>(uint64_t{1} << random.below(5)), work_s, 0);
  }
}

TEST(PromiseBackfill, ABoundOnLateStartsHoldsIfAllJobsCanRestart) {
  constexpr double kBound_s = 600;
  const TimeNs bound_ns = base::from_seconds(kBound_s);
  int64_t late_without = 0;
  int64_t late_within = 0;
  EXPECT_TRUE(rc::check([&] {
    const uint64_t seed = *rc::gen::arbitrary<uint64_t>();
    for (const double bound_s : {0.0, kBound_s}) {
      base::Random random(seed);
      PlayedRun run("4x4");
      run.options.preemption_loses_work = random.below(2) == 0;
      add_unpredictable(run, random);
      run.late_bound_s = bound_s;
      PromiseWatch watch;
      const bool pal = random.below(2) == 0;
      const auto result = run.play(pal ? "expansion+promise-backfill+priced+pal-tight"
                                       : "fifo+promise-backfill+sticky+packed",
                                   &watch);
      for (const auto& outcome : result.outcomes) RC_ASSERT(outcome.end == JobEnd::Finished);
      if (bound_s == 0) {
        late_without += watch.late(result, bound_ns);
      } else {
        RC_ASSERT(watch.late(result, bound_ns) == 0);
        late_within += watch.late(result);
      }
    }
  }));
  EXPECT_GT(late_without, 0) << "nobody would be so late: this tests nothing";
  EXPECT_GT(late_within, 0);
}

TEST(PromiseBackfill, TheBoundSparesJobsThatCannotRestart) {
  // Twenty runs of 100 s teach. Then one of 5,000 s holds a GPU of two; who needs both is promised
  // its predicted end, and gets them 600 s later, unless that job cannot restart.
  for (const bool stays : {false, true}) {
    PlayedRun run("1x2");
    run.late_bound_s = 600;
    for (int i = 0; i < 20; ++i) run.add(200.0 * i, 1, 100, 0);
    run.add(5000, 1, 5000, 0, stays);
    run.add(5001, 2, 100, 0);
    PromiseWatch watch;
    const auto result = run.play("expansion+promise-backfill+priced+packed", &watch);
    ASSERT_GE(watch.promised(), 1);
    EXPECT_EQ(result.outcomes[20].preemptions, stays ? 0 : 1);
    const double start_s = base::to_seconds(result.outcomes[21].start_ns);
    if (stays) {
      EXPECT_EQ(start_s, 10'000);
    } else {
      EXPECT_GE(start_s, 5600);
      EXPECT_LE(start_s, 6000);
      EXPECT_LE(result.promises.late_p95_s, 600);
    }
  }
}

TEST(PricedPreemption, SparesJobsThatCannotRestart) {
  for (const bool stays : {false, true}) {
    PlayedRun run("1x4");
    run.add(0, 4, 40'000, 50'000, stays);
    run.add(10, 1, 60, 120);
    const auto result = run.play("goban");
    EXPECT_EQ(result.outcomes[0].preemptions, stays ? 0 : 1);
    EXPECT_EQ(result.outcomes[1].start_ns, base::from_seconds(stays ? 40'000 : 10));
  }
}

TEST(PricedPreemption, IsNotWorthItForTooLittle) {
  PlayedRun run("1x4");
  run.add(0, 4, 1000, 1200);
  run.add(10, 1, 60, 400);  // 400 s and a restart are more than a quarter of 1,190 s
  EXPECT_EQ(run.play("goban").outcomes[0].preemptions, 0);
  // The work since the last checkpoint is part of the price; 10 s later there is another one.
  PlayedRun saved("1x4");
  saved.add(0, 4, 9000, 9000);
  saved.add(1790, 1, 60, 100);
  EXPECT_EQ(saved.play("goban").outcomes[1].start_ns, base::from_seconds(1790));
  saved.options.preemption_loses_work = true;
  EXPECT_EQ(saved.play("goban").outcomes[1].start_ns, base::from_seconds(1790 + 360));
}

TEST(PricedPreemption, LosesTheWorkSinceTheLastCheckpoint) {
  PlayedRun run("1x1");
  run.add(0, 1, 90'000, 200'000);
  run.add(2000, 1, 60, 60);
  EXPECT_EQ(run.play("goban").outcomes[0].finish_ns, base::from_seconds(90'000 + 60));
  run.options.preemption_loses_work = true;
  const auto result = run.play("goban");
  EXPECT_DOUBLE_EQ(result.lost_gpu_s, 200);
  EXPECT_EQ(result.outcomes[0].finish_ns, base::from_seconds(90'000 + 60 + 200));
}

TEST(RunForecasts, KnowOnlyRunsThatHaveEnded) {
  PlayedRun run("1x1");
  run.history.users.intern("ada");
  run.add(0, 1, 500, 4000);
  core::model::JobRequest request = run.history.jobs[0].request;
  request.user = core::model::UserId(0U);
  RunForecasts forecasts(run.history);
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_FALSE(forecasts.submitted(JobId(i), request).known()) << i;
  }
  for (uint32_t i = 0; i < 19; ++i) forecasts.ended(JobId(i), 500);
  EXPECT_FALSE(forecasts.submitted(JobId(20U), request).known());
  forecasts.ended(JobId(19U), 500);
  const auto known = forecasts.submitted(JobId(21U), request);
  EXPECT_NEAR(base::to_seconds(known.p50_ns), 500, 60);
  EXPECT_LE(known.p10_ns, known.p50_ns);
  EXPECT_LE(known.p90_ns, request.walltime_limit_ns);
}

}  // namespace
}  // namespace goban::study::simulator
