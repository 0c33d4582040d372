// Elastic jobs in the simulator, by example; the times are computed by hand.
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study::simulator {
namespace {

using core::model::JobHistory;
using core::model::JobSpeeds;
using core::model::ModelId;

/// A history of elastic jobs of one model with 1, 1.8 and 3 steps per second on 1, 2 and 4 GPUs.
class Elastic {
 public:
  explicit Elastic(const std::string& cluster)
      : cluster_(core::model::make_preset(cluster).value()),
        scores_(core::knowledge::PmScores::uniform(cluster_.num_gpus())),
        penalties_(cluster_, 1.0) {
    history_.models.intern("net");
    speeds_.add(ModelId(0u), 0, 0, {1, 1.0});
    speeds_.add(ModelId(0u), 0, 0, {2, 1.8});
    speeds_.add(ModelId(0u), 0, 0, {4, 3.0});
  }

  Elastic& job(double submit_s, int32_t gpus, int64_t steps, double deadline_s = -1,
               double resize_cost_s = -1, int32_t gpus_min = 1) {
    core::model::Job job = rigid_job(submit_s, gpus, 0);
    job.request.model = ModelId(0u);
    job.work_s = static_cast<double>(steps) / speeds_.find(ModelId(0u), 0, 0, gpus)->steps_per_s;
    core::model::TrainingFacts facts{.gpus_min = gpus_min, .gpus_max = 4, .steps = steps};
    if (deadline_s >= 0) facts.deadline_ns = base::from_seconds(deadline_s);
    if (resize_cost_s >= 0) facts.resize_cost_ns = base::from_seconds(resize_cost_s);
    add(job, facts);
    return *this;
  }
  Elastic& rigid(double submit_s, int32_t gpus, double work_s) {
    add(rigid_job(submit_s, gpus, work_s), {});
    return *this;
  }

  /// The job added last belongs to this account.
  Elastic& account(uint32_t id) {
    change_last([&](core::model::Job& job) {
      job.request.account = core::model::AccountId(id);
      job.request.user = core::model::UserId(id);
    });
    return *this;
  }
  /// The job added last may hold GPUs for so long.
  Elastic& walltime(double limit_s) {
    change_last([&](core::model::Job& job) {
      job.request.walltime_limit_ns = base::from_seconds(limit_s);
    });
    return *this;
  }
  /// Account 0 may hold so many GPUs; account 1 has no limit.
  Elastic& limit(int32_t max_gpus) {
    auto rules = std::make_shared<core::model::SiteRules>();
    rules->accounts.resize(2);
    rules->accounts[0].limits.max_gpus = max_gpus;
    rules_ = std::move(rules);
    return *this;
  }

  /// Node 0 fails, and returns.
  Elastic& failure(double lost_s, double restored_s) {
    using core::model::EventKind;
    for (const auto& [kind, at_s] :
         {std::pair(EventKind::NodeLost, lost_s), std::pair(EventKind::NodeRestored, restored_s)}) {
      core::model::Event event;
      event.kind = kind;
      event.at_ns = base::from_seconds(at_s);
      event.node = core::model::NodeId(0u);
      incidents_.push_back(event);
    }
    return *this;
  }

  SimulationResult run(const std::string& policy, double restart_cost_s = 30) {
    auto composition = core::policy::compose(policy).value();
    if (rules_) composition.rules = rules_;
    SimulationOptions options;
    options.settings = composition.settings;
    options.settings.restart_cost_s = restart_cost_s;
    options.incidents = incidents_;
    options.speeds = std::make_shared<JobSpeeds>(speeds_);
    return simulate(history_, {&cluster_, &scores_, &penalties_}, composition, options).value();
  }

 private:
  static core::model::Job rigid_job(double submit_s, int32_t gpus, double work_s) {
    core::model::Job job;
    job.request.submit_ns = base::from_seconds(submit_s);
    job.request.num_gpus = gpus;
    job.work_s = work_s;
    return job;
  }
  void add(const core::model::Job& job, const core::model::TrainingFacts& facts) {
    history_.jobs.push_back(job);
    history_.job_names.add(std::to_string(history_.jobs.size()));
    history_.training.push_back(facts);
  }

  template <typename Change>
  void change_last(Change&& change) {
    const size_t last = history_.jobs.size() - 1;
    core::model::Job job = history_.jobs[last];
    std::forward<Change>(change)(job);
    history_.jobs.put(last, job);
  }

  core::model::Cluster cluster_;
  core::knowledge::PmScores scores_;
  core::knowledge::LocalityPenalties penalties_;
  JobHistory history_;
  JobSpeeds speeds_;
  std::shared_ptr<const core::model::SiteRules> rules_;
  std::vector<core::model::Event> incidents_;
};

void expect_finishes(const SimulationResult& result, const std::vector<double>& wanted_s) {
  for (size_t i = 0; i < wanted_s.size(); ++i) {
    EXPECT_NEAR(base::to_seconds(result.outcomes[i].finish_ns), wanted_s[i], 1e-6) << "job " << i;
  }
}

TEST(Elastic, FixedSizesRunAtTheSpeedOfTheTable) {
  const auto result = Elastic("1x4").job(0, 2, 180).job(0, 2, 360).run("fifo+packed");
  expect_finishes(result, {100, 200});
  EXPECT_EQ(result.elastic_of(0).resizes, 0);
  EXPECT_EQ(result.elastic_of(0).gpus_max, 2);
}

TEST(Elastic, EdfStopsAJobForAnEarlierDeadline) {
  // Alone on 4 GPUs the first does 120 steps in 40 s. The second takes all four for 20 s; then the
  // first does its 180 steps in 60 s, on the GPUs that it held, so that a restart costs nothing.
  const auto result = Elastic("1x4").job(0, 2, 300, 1000).job(40, 1, 60, 50).run("fifo+packed+edf");
  expect_finishes(result, {120, 60});
  EXPECT_EQ(result.outcomes[0].preemptions, 1);
  EXPECT_EQ(result.elastic_of(0).resizes, 0);
  EXPECT_NEAR(result.elastic_of(0).held_gpu_s, 4 * (40 + 60), 1e-6);
  EXPECT_EQ(result.overhead_gpu_s, 0);
}

TEST(Elastic, MaxMarginalShrinksAndGrowsWhereThatPays) {
  // At 40 s the first shrinks from four GPUs to two (10 s), and does its 180 steps in 100 s. The
  // second has done 198 of its 360 steps when the first ends, at 150 s: on four GPUs it saves 36 s.
  const auto grows =
      Elastic("1x4").job(0, 2, 300, -1, 10).job(40, 2, 360, -1, 10).run("fifo+packed+max-marginal");
  expect_finishes(grows, {150, 214});
  EXPECT_EQ(grows.elastic_of(0).resizes, 1);
  EXPECT_EQ(grows.elastic_of(0).gpus_min, 2);
  EXPECT_EQ(grows.elastic_of(0).gpus_max, 4);
  EXPECT_EQ(grows.elastic_of(1).resizes, 1);
  EXPECT_NEAR(grows.overhead_gpu_s, 10 * 2 + 10 * 4, 1e-6);
  const auto stays =
      Elastic("1x4").job(0, 2, 300, -1, 10).job(40, 2, 360, -1, 40).run("fifo+packed+max-marginal");
  expect_finishes(stays, {150, 240});  // 40 s cost more than 36 s save
}

TEST(Elastic, ARigidJobGetsItsGpusBeforeOthersGrow) {
  // The elastic job holds four GPUs until the rigid one asks for two of them, at 40 s.
  const auto result =
      Elastic("1x4").job(0, 4, 300, -1, 10).rigid(40, 2, 50).run("fifo+packed+max-marginal");
  EXPECT_EQ(result.outcomes[1].start_ns, base::from_seconds(40));
  // 180 steps: 10 s of the resize, 72 of them in the 40 s until the rigid job ends; then four GPUs
  // would save 108 / 1.8 - 108 / 3 = 24 s for another 10 s.
  expect_finishes(result, {90 + 10 + 36, 90});
}

TEST(Elastic, GpusBeyondTheLimitOfAnAccountAreLeftToOthers) {
  // The account of the first may hold two GPUs; with four it would end before the second starts.
  for (const char* size : {"edf", "max-marginal"}) {
    const auto result = Elastic("1x4")
                            .job(0, 2, 1800, 5000)
                            .account(0)
                            .rigid(10, 1, 60)
                            .account(1)
                            .limit(2)
                            .run("fifo+packed+" + std::string(size));
    EXPECT_EQ(result.outcomes[1].start_ns, base::from_seconds(10)) << size;
    expect_finishes(result, {1000, 70});
    EXPECT_EQ(result.elastic_of(0).gpus_max, 2) << size;
  }
}

TEST(Elastic, JobsOfOneAccountShareItsLimit) {
  // The first deadline gets the two GPUs of the account; the third job is of another.
  const auto result = Elastic("1x4")
                          .job(0, 2, 180, 9000)
                          .account(0)
                          .job(0, 2, 180, 300)
                          .account(0)
                          .job(0, 2, 360, 9500)
                          .account(1)
                          .limit(2)
                          .run("fifo+packed+edf", 0);
  EXPECT_EQ(result.outcomes[1].start_ns, 0);
  EXPECT_EQ(result.outcomes[0].start_ns, base::from_seconds(100));
  EXPECT_EQ(result.outcomes[2].start_ns, 0) << "two GPUs are left to it";
  expect_finishes(result, {200, 100, 200});
}

TEST(Elastic, AJobIsNotShrunkPastItsWalltimeLimit) {
  // Alone it gets four GPUs. The second would have one GPU be its share: 600 steps do not end in
  // 400 s on one, but on two (334 s).
  const auto result = Elastic("1x4")
                          .job(0, 2, 600, -1, 10)
                          .walltime(400)
                          .rigid(20, 1, 1000)
                          .rigid(20, 1, 1000)
                          .rigid(20, 1, 1000)
                          .run("fifo+packed+max-marginal");
  EXPECT_EQ(result.outcomes[0].end, JobEnd::Finished);
  EXPECT_EQ(result.elastic_of(0).gpus_min, 2);
  // 60 steps in 20 s; 10 s to shrink; 540 steps at 1.8.
  EXPECT_NEAR(base::to_seconds(result.outcomes[0].finish_ns), 20 + 10 + 300, 1e-6);
  EXPECT_EQ(result.outcomes[3].start_ns, result.outcomes[0].finish_ns);
}

TEST(Elastic, AFailedNodeCostsARestartOnItsGpus) {
  // 40 s of work are lost before the first checkpoint; the node is back at 50 s; 30 s of restart.
  expect_finishes(Elastic("1x4").rigid(0, 4, 100).failure(40, 50).run("fifo+packed"), {180});
  expect_finishes(Elastic("1x4").job(0, 4, 300).failure(40, 50).run("fifo+packed"), {180});
}

TEST(Elastic, NeverRunsOnFewerThanItsLeast) {
  const auto result = Elastic("1x4")
                          .job(0, 4, 300, -1, 0, 2)
                          .job(10, 4, 300, -1, 0, 2)
                          .job(20, 4, 300, -1, 0, 2)
                          .run("fifo+packed+max-marginal", 0);
  for (size_t i = 0; i < 3; ++i) EXPECT_GE(result.elastic_of(i).gpus_min, 2);
  EXPECT_GT(result.outcomes[2].start_ns, base::from_seconds(20)) << "it waits for two GPUs";
}

}  // namespace
}  // namespace goban::study::simulator
