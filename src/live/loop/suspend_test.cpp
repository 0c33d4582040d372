// Suspended jobs: their GPUs stay held, and the time counts neither as run time nor for the limit.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using controller::JobStage;

struct Suspended : testing::Test {
  Suspended() { restart(); }
  /// A new daemon on the journal; the runs go on.
  void restart() {
    engine.drop_reports();
    cycle = std::make_unique<CommitCycle>(site, log, engine);
    const auto fold = cycle->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
    cycle->resume();
  }
  bool ask(controller::Input input) {
    return cycle->run({std::move(input)}, now).front().has_value();
  }
  void pass(TimeNs duration_ns) {
    for (const TimeNs end = now + duration_ns; now < end;) {
      now += kSecond;
      engine.advance(now);
      (void)cycle->run({}, now);
    }
  }
  /// A job that takes this long, and has run for 10 s.
  const controller::LiveJob& started(TimeNs takes_ns) {
    engine.fates[job] = {.takes_ns = takes_ns};
    EXPECT_TRUE(ask(controller::Submit{
        .jobs = {{.owner = {.uid = 7}, .num_gpus = 4, .walltime_limit_ns = 60 * kSecond}}}));
    while (find().stage != JobStage::Running) pass(kSecond);
    pass(10 * kSecond);
    return find();
  }
  const controller::LiveJob& find() const { return *cycle->controller().book().find(job); }

  const controller::Caller owner{.uid = 7, .user = "ann"};
  const controller::Caller root{.is_operator = true};
  const JobId job{0U};
  controller::Site site = test_site(1, 4, "fifo+packed");
  MemoryLog log;
  FaultyEngine engine{site.cluster, 1};
  std::unique_ptr<CommitCycle> cycle;
  TimeNs now = 1'000 * kSecond;
};

TEST_F(Suspended, AJobKeepsItsGpusAndGoesOnWhereItWas) {
  (void)started(40 * kSecond);
  EXPECT_FALSE(ask(controller::Suspend{.job = job, .by = owner})) << "operators only";
  EXPECT_FALSE(ask(controller::Continue{.job = job, .by = root})) << "it is not suspended";
  ASSERT_TRUE(ask(controller::Suspend{.job = job, .by = root}));
  EXPECT_EQ(find().stage, JobStage::Suspended);
  EXPECT_FALSE(ask(controller::Suspend{.job = job, .by = root})) << "it is already";
  ASSERT_TRUE(ask(controller::Submit{.jobs = {{.num_gpus = 1}}}));
  pass(500 * kSecond);
  EXPECT_EQ(find().stage, JobStage::Suspended) << "its limit of 60 s pauses";
  EXPECT_EQ(cycle->controller().book().find(JobId(1U))->stage, JobStage::Waiting);
  restart();
  EXPECT_EQ(find().stage, JobStage::Suspended);
  ASSERT_TRUE(cycle->compact());
  restart();
  EXPECT_EQ(find().stage, JobStage::Suspended);
  pass(500 * kSecond);
  EXPECT_EQ(find().stage, JobStage::Suspended);
  EXPECT_FALSE(ask(controller::Continue{.job = job, .by = owner}));
  ASSERT_TRUE(ask(controller::Continue{.job = job, .by = root}));
  EXPECT_EQ(find().stage, JobStage::Running);
  pass(50 * kSecond);
  EXPECT_EQ(find().result, controller::JobResult::Completed);
  ASSERT_EQ(find().past.size(), 1U);
  EXPECT_EQ(find().past[0].suspended_ns, 1'000 * kSecond);
  EXPECT_EQ(find().held_ns,
            find().past[0].end_ns - find().past[0].start_ns - find().past[0].suspended_ns);
}

TEST_F(Suspended, TheLimitCountsTheRunTimeOnly) {
  (void)started(100'000 * kSecond);
  ASSERT_TRUE(ask(controller::Suspend{.job = job, .by = root}));
  pass(300 * kSecond);
  ASSERT_TRUE(ask(controller::Continue{.job = job, .by = root}));
  pass(40 * kSecond);
  EXPECT_EQ(find().stage, JobStage::Running);
  pass(40 * kSecond);
  EXPECT_EQ(find().result, controller::JobResult::TimedOut);
}

TEST_F(Suspended, AStopLetsItGoOnFirst) {
  (void)started(100'000 * kSecond);
  ASSERT_TRUE(ask(controller::Suspend{.job = job, .by = root}));
  pass(10 * kSecond);
  ASSERT_TRUE(ask(controller::Cancel{.job = job, .by = owner}));
  EXPECT_EQ(find().stage, JobStage::Stopping);
  pass(20 * kSecond);
  EXPECT_EQ(find().result, controller::JobResult::Cancelled);
  EXPECT_EQ(find().past[0].suspended_ns, 10 * kSecond);
}

TEST_F(Suspended, ARequeueGivesTheGpusBack) {
  (void)started(100'000 * kSecond);
  ASSERT_TRUE(ask(controller::Suspend{.job = job, .by = root}));
  ASSERT_TRUE(ask(controller::Requeue{.job = job, .by = owner}));
  pass(30 * kSecond);
  EXPECT_EQ(find().stage, JobStage::Running);
  EXPECT_EQ(find().runs, 2U);
}

}  // namespace
}  // namespace goban::live::loop
