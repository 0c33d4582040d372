// Waiting jobs that are altered.
#include <gmock/gmock.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using controller::JobStage;
using testing::HasSubstr;

constexpr TimeNs kLimit = 60 * kSecond;

/// Starts what it is ordered to start.
class StartingEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override {
    launched.push_back(order);
    reports.push_back({.kind = ReportKind::Started, .run = order.run, .limited = true});
  }
  void stop(RunId run, StopReason) override {
    reports.push_back({.kind = ReportKind::Ended, .run = run, .signal = 15});
  }
  void resume(const LaunchOrder&) override {}
  void forget(JobId, const std::string&) override {}
  std::vector<EngineEvent> take_events() override { return events_of(std::exchange(reports, {})); }

  std::vector<LaunchOrder> launched{};
  std::vector<Report> reports{};
};

/// One GPU, which job 0 has; jobs 1 to 3 are tasks of an array of which one runs at once, and job 4
/// came after them. All belong to user 7.
struct Altered : testing::Test {
  Altered() {
    job::JobSpec spec{.owner = {.uid = 7, .gid = 7, .user = "ann"}, .walltime_limit_ns = kLimit};
    turn(controller::Submit{.jobs = {spec}});
    controller::Submit array;
    for (int32_t task = 0; task < 3; ++task) {
      array.jobs.push_back(spec);
      array.jobs.back().array_task = task;
      array.jobs.back().array_limit = 1;
    }
    turn(array);
    turn(controller::Submit{.jobs = {spec}});
  }
  void turn(controller::Input input) {
    for (const auto& answer : cycle.run({std::move(input)}, now += kSecond)) EXPECT_TRUE(answer);
    (void)cycle.run({}, now += kSecond);
  }
  std::string refusal(const controller::Alter& alter) {
    const auto answers = cycle.run({alter}, now += kSecond);
    return answers.front() ? std::string() : answers.front().error().text();
  }
  void end(JobId job) {
    engine.reports.push_back({.kind = ReportKind::Ended, .run = {job, 1}, .exit_code = 0});
    (void)cycle.run({}, now += kSecond);
    (void)cycle.run({}, now += kSecond);
  }
  JobStage stage(uint32_t job) { return cycle.controller().book().find(JobId(job))->stage; }

  controller::Caller owner{.uid = 7, .user = "ann"};
  controller::Site site = [] {
    controller::Site out = test_site(1, 1, "priority");
    out.limits.time_max_ns = 10 * kLimit;
    return out;
  }();
  MemoryLog log;
  StartingEngine engine;
  CommitCycle cycle{site, log, engine};
  TimeNs now = 1'000 * kSecond;
};

TEST_F(Altered, TheCoreAndTheEngineKnowTheNewValues) {
  turn(controller::Alter{
      .job = JobId(4U), .by = owner, .walltime_limit_ns = 2 * kLimit, .priority = 3});
  end(JobId(0U));
  EXPECT_EQ(stage(4), JobStage::Running) << "it passed the array";
  ASSERT_EQ(engine.launched.size(), 2U);
  EXPECT_EQ(engine.launched.back().limit_ns, 2 * kLimit);
  turn(controller::Alter{.job = JobId(3U), .by = owner, .array_limit = 2});
  for (uint32_t task = 1; task < 4; ++task) {
    EXPECT_EQ(cycle.controller().book().find(JobId(task))->spec.array_limit, 2);
  }
  // Another controller makes the same decisions, from the inputs and from a snapshot.
  StartingEngine other;
  CommitCycle next(site, log, other);
  const auto fold = next.fold(log.safe);
  ASSERT_TRUE(fold) << fold.error().text();
  EXPECT_EQ(fold->other, 0);
  ASSERT_TRUE(cycle.compact());
  CommitCycle restored(site, log, other);
  ASSERT_TRUE(restored.fold(log.safe));
  for (const CommitCycle* each : {&next, &restored}) {
    const controller::LiveJob* job = each->controller().book().find(JobId(4U));
    EXPECT_EQ(job->spec.priority, 3);
    EXPECT_EQ(job->spec.walltime_limit_ns, 2 * kLimit);
  }
}

TEST_F(Altered, OnlyWhatWaitsAndOnlyByThoseWhoMay) {
  EXPECT_THAT(refusal({.job = JobId(0U), .by = owner, .priority = -1}), HasSubstr("is running"));
  EXPECT_THAT(refusal({.job = JobId(1U), .by = {.uid = 8, .user = "bob"}, .priority = -1}),
              HasSubstr("belongs to ann"));
  EXPECT_THAT(refusal({.job = JobId(4U), .by = owner, .array_limit = 2}),
              HasSubstr("not a task of an array"));
  EXPECT_THAT(refusal({.job = JobId(9U), .by = owner, .priority = -1}), HasSubstr("unknown"));
  EXPECT_NE(refusal({.job = JobId(0U), .by = {.is_operator = true}, .array_limit = 2}), "");
  turn(controller::Requeue{.job = JobId(0U), .by = owner});
  const TimeNs used_ns = cycle.controller().book().find(JobId(0U))->held_ns;
  ASSERT_GT(used_ns, 0);
  controller::Alter shorter{.job = JobId(0U), .by = owner, .walltime_limit_ns = used_ns};
  turn(controller::Hold{.job = JobId(0U), .by = owner});
  EXPECT_THAT(refusal(shorter), HasSubstr("already run for longer"));
  EXPECT_THAT(refusal({.job = JobId(4U), .by = owner, .walltime_limit_ns = 20 * kLimit}),
              HasSubstr("time_max"));
  shorter.walltime_limit_ns = used_ns + kLimit;
  EXPECT_EQ(refusal(shorter), "");
}

}  // namespace
}  // namespace goban::live::loop
