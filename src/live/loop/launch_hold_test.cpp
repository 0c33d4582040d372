// A launch that the machine cannot make is not the job's failure: it waits, and launches are held.
#include <gtest/gtest.h>

#include "live/loop/scheduler_clock.hpp"
#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using controller::JobStage;

/// A machine whose disk may be full.
class FullMachine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    ++launches;
    last = order;
    reports.push_back({.kind = full ? ReportKind::Unable : ReportKind::Started,
                       .run = order.run,
                       .detail = full ? "no space left on device" : ""});
  }
  void stop(RunId run, StopReason) override {
    reports.push_back({.kind = ReportKind::Lost, .run = run});
  }
  void resume(const LaunchOrder&) override {}
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override { return events_of(std::exchange(reports, {})); }

  bool full = true;
  int launches = 0;
  LaunchOrder last{};
  std::vector<Report> reports{};
};

struct Held : testing::Test {
  CommitCycle::Answers step(std::vector<controller::Input> inputs = {}) {
    now += kSecond;
    return cycle.run(std::move(inputs), now);
  }
  const controller::LiveJob& job(uint32_t number) {
    return *cycle.controller().book().find(JobId(number));
  }

  controller::Site site = test_site(1, 2, "fifo");
  MemoryLog log;
  FullMachine engine;
  CommitCycle cycle{site, log, engine};
  TimeNs now = 1'000 * kSecond;
};

TEST_F(Held, JobsWaitUntilTheMachineCanLaunchAgain) {
  ASSERT_TRUE(step({controller::Submit{.jobs = {2, job::JobSpec{.num_gpus = 1}}}})[0]);
  (void)step();
  EXPECT_EQ(engine.launches, 2);
  EXPECT_EQ(job(0).stage, JobStage::Waiting);
  EXPECT_EQ(job(1).stage, JobStage::Waiting);
  ASSERT_EQ(cycle.controller().holds().size(), 1U);
  EXPECT_EQ(cycle.controller().holds().begin()->second.reason, "no space left on device");
  // Nobody is launched meanwhile, a new job included.
  ASSERT_TRUE(step({controller::Submit{.jobs = {job::JobSpec{.num_gpus = 1}}}})[0]);
  for (int i = 0; i < 5; ++i) (void)step();
  EXPECT_EQ(engine.launches, 2);
  // A daemon that starts now knows all this.
  CommitCycle next(site, log, engine);
  ASSERT_TRUE(next.fold(log.safe));
  EXPECT_EQ(next.controller().holds(), cycle.controller().holds());
  controller::Controller restored(site);
  ASSERT_TRUE(next.compact());
  ASSERT_TRUE(restored.restore(log.safe.snapshot));
  EXPECT_EQ(restored.holds(), cycle.controller().holds());
  EXPECT_EQ(restored.book().find(JobId(0U))->unable, 1U);
  // Later it tries again, and again, without counting a failure.
  for (int i = 0; i < 30; ++i) (void)step();
  EXPECT_GE(engine.launches, 6);
  EXPECT_LE(engine.launches, 10);
  engine.full = false;
  for (int i = 0; i < 15; ++i) (void)step();
  EXPECT_TRUE(cycle.controller().holds().empty());
  for (const uint32_t number : {0U, 1U}) {
    EXPECT_EQ(job(number).stage, JobStage::Running);
    EXPECT_EQ(job(number).breakages, 0U);
    EXPECT_TRUE(job(number).past.empty());
    EXPECT_GT(job(number).unable, 1U);
  }
  EXPECT_EQ(engine.last.restarts, 0U) << "it never ran before";
  EXPECT_EQ(job(2).stage, JobStage::Waiting);
}

TEST_F(Held, ADrainOutlivesTheHoldAndAResumeEndsIt) {
  ASSERT_TRUE(step({controller::Submit{.jobs = {job::JobSpec{.num_gpus = 1}}}})[0]);
  (void)step();
  engine.full = false;
  (void)step({controller::Drain{.node = NodeId(0U), .reason = "repair"}});
  for (int i = 0; i < 30; ++i) (void)step();
  EXPECT_EQ(job(0).stage, JobStage::Waiting) << "drained";
  (void)step({controller::Resume{.node = NodeId(0U)}});
  (void)step();
  EXPECT_EQ(job(0).stage, JobStage::Running);
}

TEST_F(Held, AResumeTriesAtOnceAndACancelledJobIsCancelled) {
  ASSERT_TRUE(step({controller::Submit{.jobs = {2, job::JobSpec{.num_gpus = 1}}}})[0]);
  (void)step();
  engine.full = false;
  ASSERT_TRUE(step({controller::Cancel{.job = JobId(0U), .by = {.is_operator = true}}})[0]);
  EXPECT_EQ(job(0).result, controller::JobResult::Cancelled);
  ASSERT_TRUE(step({controller::Resume{.node = NodeId(0U)}})[0]);
  (void)step();
  EXPECT_EQ(job(1).stage, JobStage::Running);
}

TEST(Clock, GoesOnAfterItWasSetBack) {
  const SchedulerClock ahead(1'000 * kSecond, 50 * kSecond, 900 * kSecond);
  EXPECT_EQ(ahead.behind_ns(), 0);
  EXPECT_EQ(ahead.at(53 * kSecond), 1'003 * kSecond);
  const SchedulerClock behind(1'000 * kSecond, 50 * kSecond, 4'600 * kSecond);
  EXPECT_EQ(behind.behind_ns(), 3'600 * kSecond);
  EXPECT_EQ(behind.at(50 * kSecond), 4'600 * kSecond) << "not back";
  EXPECT_EQ(behind.at(60 * kSecond), 4'605 * kSecond) << "and not still";
  EXPECT_EQ(behind.at(50 * kSecond + 2 * 3'600 * kSecond), 8'200 * kSecond) << "caught up";
  EXPECT_EQ(behind.at(60 * kSecond + 2 * 3'600 * kSecond), 8'210 * kSecond);
}

TEST(Limit, ASetClockEndsNoJobThatItsEngineLimits) {
  for (const bool limited : {true, false}) {
    const controller::Site site = test_site(1, 1, "fifo");
    MemoryLog log;
    FullMachine engine;
    engine.full = false;
    CommitCycle cycle(site, log, engine);
    job::JobSpec spec{.num_gpus = 1, .walltime_limit_ns = 600 * kSecond};
    ASSERT_TRUE(cycle.run({controller::Submit{.jobs = {spec}}}, 1'000 * kSecond)[0]);
    ASSERT_EQ(engine.reports.size(), 1U);
    EXPECT_EQ(engine.last.limit_ns, 600 * kSecond);
    engine.reports[0].limited = limited;
    (void)cycle.run({}, 1'001 * kSecond);
    // The daemon is started again, and the clock was set by an hour meanwhile.
    CommitCycle next(site, log, engine);
    ASSERT_TRUE(next.fold(log.safe));
    (void)next.run({}, 4'600 * kSecond);
    (void)next.run({}, 4'601 * kSecond);
    const controller::LiveJob& job = *next.controller().book().find(JobId(0U));
    if (!limited) {
      EXPECT_EQ(job.stage, JobStage::Done) << "runs of earlier releases";
      continue;
    }
    EXPECT_EQ(job.stage, JobStage::Running);
    // What it used is what its engine says.
    ASSERT_TRUE(next.run({controller::Requeue{.job = job.job, .by = {.is_operator = true}}},
                         4'602 * kSecond)[0]);
    engine.reports = {{.kind = ReportKind::Ended,
                       .run = {.job = job.job, .run = 1},
                       .ran_ns = 60 * kSecond,
                       .signal = 15}};
    for (TimeNs now = 4'603 * kSecond; now < 4'610 * kSecond; now += kSecond) {
      (void)next.run({}, now);
    }
    EXPECT_EQ(engine.last.run.run, 2U);
    EXPECT_EQ(job.past.at(0).end_ns - job.past.at(0).start_ns, 60 * kSecond);
    EXPECT_EQ(engine.last.limit_ns, 540 * kSecond);
    engine.reports = {{.kind = ReportKind::Ended,
                       .run = {.job = job.job, .run = 2},
                       .ran_ns = 540 * kSecond,
                       .signal = 15,
                       .limited = true}};
    (void)next.run({}, 4'611 * kSecond);
    EXPECT_EQ(job.result, controller::JobResult::TimedOut);
  }
}

}  // namespace
}  // namespace goban::live::loop
