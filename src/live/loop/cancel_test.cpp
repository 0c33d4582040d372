// A cancellation takes precedence over every other stop.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

TEST(Cancelled, AJobDoesNotComeBackFromANodeThatFails) {
  const controller::Site site = test_site(2, 1, "fifo");
  MemoryLog log;
  FaultyEngine engine(site.cluster, 1);
  CommitCycle cycle(site, log, engine);
  TimeNs now = 1'000 * base::kSecond;
  const auto step = [&](std::vector<controller::Input> inputs) {
    now += base::kSecond;
    engine.advance(now);
    return cycle.run(std::move(inputs), now);
  };
  const JobId job(0U);
  engine.fates[job] = {.takes_ns = 1'000'000 * base::kSecond};
  ASSERT_TRUE(step({controller::Submit{.jobs = {job::JobSpec{.num_gpus = 2}}}})[0]);
  const auto stage = [&] { return cycle.controller().book().find(job)->stage; };
  for (int i = 0; i < 20; ++i) (void)step({});
  ASSERT_EQ(stage(), controller::JobStage::Running);
  // Its other node is lost, its process on this one is ordered to stop, and then it is cancelled.
  (void)step({controller::EngineReport{{.kind = ReportKind::NodeDown, .node = "n1"}}});
  ASSERT_EQ(stage(), controller::JobStage::Stopping);
  ASSERT_TRUE(step({controller::Cancel{.job = job, .by = {.is_operator = true}}})[0]);
  (void)step({controller::EngineReport{{.kind = ReportKind::NodeUp, .node = "n1"}}});
  for (int i = 0; i < 20; ++i) (void)step({});
  EXPECT_EQ(stage(), controller::JobStage::Done);
  EXPECT_EQ(cycle.controller().book().find(job)->result, controller::JobResult::Cancelled);
}

/// Records how a run is stopped; it never ends by itself.
class DeafEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    reports.push_back({.kind = ReportKind::Started, .run = order.run});
  }
  void stop(RunId, StopReason) override { ++stops; }
  void hurry(RunId, StopUrgency how) override { urgencies.push_back(how); }
  void resume(const LaunchOrder&) override {}
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override { return events_of(std::exchange(reports, {})); }

  int stops = 0;
  std::vector<StopUrgency> urgencies{};
  std::vector<Report> reports{};
};

struct Escalation : testing::Test {
  Escalation() {
    job::JobSpec spec{.num_gpus = 1, .stop = {.signal = 10, .lead_ns = 60 * base::kSecond}};
    step({controller::Submit{.jobs = {spec}}});
    step({});
  }
  void step(std::vector<controller::Input> inputs) {
    now += base::kSecond;
    for (const auto& answer : cycle.run(std::move(inputs), now)) EXPECT_TRUE(answer);
  }
  void cancel(bool at_once = false) {
    step({controller::Cancel{.job = JobId(0U), .by = {.is_operator = true}, .now = at_once}});
  }

  controller::Site site = test_site(1, 1, "fifo");
  MemoryLog log;
  DeafEngine engine;
  CommitCycle cycle{site, log, engine};
  TimeNs now = 1'000 * base::kSecond;
};

TEST_F(Escalation, EveryFurtherCancelSkipsAStep) {
  cancel();
  EXPECT_TRUE(engine.urgencies.empty());
  cancel();
  EXPECT_EQ(engine.urgencies, std::vector{StopUrgency::Terminate});
  cancel();
  cancel();
  EXPECT_EQ(engine.urgencies, (std::vector{StopUrgency::Terminate, StopUrgency::Kill}));
  // Another daemon repeats it, from the journal and from a snapshot.
  CommitCycle next(site, log, engine);
  ASSERT_TRUE(next.fold(log.safe));
  engine.urgencies.clear();
  next.resume();
  EXPECT_EQ(engine.urgencies, std::vector{StopUrgency::Kill});
  ASSERT_TRUE(next.compact());
  CommitCycle third(site, log, engine);
  ASSERT_TRUE(third.fold(log.safe));
  third.resume();
  EXPECT_EQ(engine.urgencies.size(), 2U);
}

TEST_F(Escalation, NowKillsARunningJob) {
  cancel(true);
  EXPECT_GE(engine.stops, 1) << "orders may be repeated";
  EXPECT_EQ(engine.urgencies, std::vector{StopUrgency::Kill});
}

TEST_F(Escalation, AFirstCancelAfterAPreemptionKeepsTheJobsTime) {
  step({controller::Requeue{.job = JobId(0U), .by = {.is_operator = true}}});
  cancel();
  EXPECT_TRUE(engine.urgencies.empty());
  cancel();
  EXPECT_EQ(engine.urgencies, std::vector{StopUrgency::Terminate});
}

}  // namespace
}  // namespace goban::live::loop
