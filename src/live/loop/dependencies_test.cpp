// Jobs that depend on jobs already removed from the job table.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;

/// Runs fail with this exit code.
constexpr int32_t kFails = 1;

controller::Site site_that_keeps(TimeNs keep_ended_ns) {
  controller::Site site = test_site(1, 4, "fifo+packed");
  site.keep_ended_ns = keep_ended_ns;
  return site;
}

struct Dependencies : testing::Test {
  /// A new daemon, started from the journal.
  void start(TimeNs keep_ended_ns) {
    engine = std::make_unique<FaultyEngine>(cluster, 1);
    turns = std::make_unique<CommitCycle>(site_that_keeps(keep_ended_ns), log, *engine);
    const auto fold = turns->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
  }
  void pass(TimeNs duration_ns) {
    const TimeNs end = now + duration_ns;
    while (now < end) {
      now += kSecond;
      engine->advance(now);
      (void)turns->turn({}, now);
      for (const JobId job : turns->take_accounts()) turns->accounted(job, now);
    }
  }
  /// Advances time and applies an input, so that old jobs are removed.
  void forget_after(TimeNs duration_ns) {
    pass(duration_ns);
    (void)submit(kSecond, 0);
    pass(2 * kSecond);
  }
  JobId submit(TimeNs takes_ns, int32_t exit_code, std::vector<job::Dependency> dependencies = {}) {
    engine->fates[turns->controller().next_job()] = {.takes_ns = takes_ns, .exit_code = exit_code};
    job::JobSpec spec;
    spec.dependencies = std::move(dependencies);
    const auto answers = turns->turn({controller::Submit{.jobs = {spec}}}, now);
    EXPECT_TRUE(answers.front());
    return answers.front()->first_job;
  }
  const controller::LiveJob* find(JobId job) const { return turns->controller().book().find(job); }

  core::model::Cluster cluster = site_that_keeps(0).cluster;
  MemoryLog log;
  std::unique_ptr<FaultyEngine> engine;
  std::unique_ptr<CommitCycle> turns;
  TimeNs now = 1'000 * kSecond;
};

TEST_F(Dependencies, AForgottenJobCountsAsItEnded) {
  start(10 * kSecond);
  const JobId failed = submit(kSecond, kFails);
  const JobId slow = submit(100 * kSecond, 0);
  const JobId after_failure = submit(kSecond, 0,
                                     {{.kind = job::DependencyKind::AfterNotOk, .job = failed},
                                      {.kind = job::DependencyKind::AfterOk, .job = slow}});
  const JobId after_success = submit(kSecond, 0,
                                     {{.kind = job::DependencyKind::AfterOk, .job = failed},
                                      {.kind = job::DependencyKind::AfterOk, .job = slow}});
  pass(5 * kSecond);
  EXPECT_EQ(find(after_success)->result, controller::JobResult::NeverRuns);
  forget_after(50 * kSecond);
  ASSERT_EQ(find(failed), nullptr) << "it is not forgotten yet";
  EXPECT_EQ(find(after_failure)->stage, controller::JobStage::Depends);
  pass(50 * kSecond);
  EXPECT_EQ(find(after_failure)->result, controller::JobResult::Completed);
}

// The daemon is killed and restarted with a shorter Site::keep_ended_ns.
TEST_F(Dependencies, ALongChainEndsWithItsHead) {
  controller::Controller controller(site_that_keeps(kSecond));
  const auto apply = [&](controller::Input input) {
    controller.apply({.at_ns = kSecond, .input = std::move(input)});
  };
  constexpr uint32_t kChain = 20'000;
  apply(controller::Submit{.jobs = {job::JobSpec{.held = true}}});
  for (uint32_t i = 1; i < kChain; ++i) {
    job::JobSpec spec;
    spec.dependencies = {{.kind = job::DependencyKind::AfterOk, .job = JobId(i - 1)}};
    if (i == kChain / 2) spec.dependencies.front().kind = job::DependencyKind::AfterAny;
    apply(controller::Submit{.jobs = {spec}});
  }
  controller::Controller restored(site_that_keeps(kSecond));
  ASSERT_TRUE(restored.restore(controller.snapshot()));
  for (controller::Controller* each : {&controller, &restored}) {
    each->apply({.at_ns = kSecond, .input = controller::Cancel{.job = JobId(0U), .by = {}}});
    EXPECT_EQ(each->book().find(JobId(kChain / 2 - 1))->result, controller::JobResult::NeverRuns);
    EXPECT_EQ(each->book().find(JobId(kChain / 2))->stage, controller::JobStage::Waiting);
    EXPECT_EQ(each->book().find(JobId(kChain - 1))->stage, controller::JobStage::Depends);
  }
}

TEST_F(Dependencies, AShorterMemoryDoesNotRewriteWhatHappened) {
  start(3'600 * kSecond);
  const JobId failed = submit(kSecond, kFails);
  const JobId fine = submit(kSecond, 0);
  pass(100 * kSecond);
  const JobId after_failed =
      submit(kSecond, 0, {{.kind = job::DependencyKind::AfterOk, .job = failed}});
  const JobId after_fine =
      submit(1'000 * kSecond, 0, {{.kind = job::DependencyKind::AfterOk, .job = fine}});
  pass(5 * kSecond);
  ASSERT_EQ(find(after_failed)->result, controller::JobResult::NeverRuns);
  ASSERT_EQ(find(after_fine)->stage, controller::JobStage::Running);
  start(10 * kSecond);
  EXPECT_EQ(find(after_failed)->result, controller::JobResult::NeverRuns);
  EXPECT_EQ(find(after_failed)->runs, 0U);
  EXPECT_EQ(find(after_fine)->stage, controller::JobStage::Running);
  forget_after(20 * kSecond);
  EXPECT_EQ(find(failed), nullptr) << "the new configuration counts from here on";
}

TEST_F(Dependencies, NobodyDependsOnWhatIsForgotten) {
  start(10 * kSecond);
  const JobId failed = submit(kSecond, kFails);
  forget_after(50 * kSecond);
  ASSERT_EQ(find(failed), nullptr);
  job::JobSpec late;
  late.dependencies = {{.kind = job::DependencyKind::AfterOk, .job = failed}};
  const auto answers = turns->turn({controller::Submit{.jobs = {late}}}, now);
  ASSERT_FALSE(answers.front());
  EXPECT_EQ(answers.front().error().place.field, "dependencies");
  // As after the loss of a snapshot: it must not count as completed.
  log.safe = {};
  late.dependencies.front().job = JobId(7U);
  log.append(controller::to_text({.at_ns = now, .input = controller::Submit{.jobs = {late}}}));
  ASSERT_TRUE(log.commit());
  start(10 * kSecond);
  EXPECT_EQ(find(JobId(0U))->result, controller::JobResult::NeverRuns);
  EXPECT_NE(find(JobId(0U))->detail.find("the outcome of job 8"), std::string::npos);
}

}  // namespace
}  // namespace goban::live::loop
