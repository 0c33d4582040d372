// Jobs that wait for other jobs, which may already be removed from the job table, or for a time.
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
    cycle = std::make_unique<CommitCycle>(site_that_keeps(keep_ended_ns), log, *engine);
    const auto fold = cycle->fold(log.safe);
    ASSERT_TRUE(fold) << fold.error().text();
    EXPECT_EQ(fold->other, 0);
  }
  void pass(TimeNs duration_ns) {
    const TimeNs end = now + duration_ns;
    while (now < end) {
      now += kSecond;
      engine->advance(now);
      (void)cycle->run({}, now);
      for (const JobId job : cycle->take_accounts()) cycle->accounted(job, now);
    }
  }
  /// Advances time and applies an input, so that old jobs are removed.
  void forget_after(TimeNs duration_ns) {
    pass(duration_ns);
    (void)submit(kSecond, 0);
    pass(2 * kSecond);
  }
  JobId submit(TimeNs takes_ns, int32_t exit_code, std::vector<job::Dependency> dependencies = {}) {
    job::JobSpec spec;
    spec.dependencies = std::move(dependencies);
    return submit(takes_ns, exit_code, std::move(spec));
  }
  JobId submit(TimeNs takes_ns, int32_t exit_code, job::JobSpec spec) {
    engine->fates[cycle->controller().next_job()] = {.takes_ns = takes_ns, .exit_code = exit_code};
    const auto answers = cycle->run({controller::Submit{.jobs = {spec}}}, now);
    EXPECT_TRUE(answers.front());
    return answers.front()->first_job;
  }
  const controller::LiveJob* find(JobId job) const { return cycle->controller().book().find(job); }

  core::model::Cluster cluster = site_that_keeps(0).cluster;
  MemoryLog log;
  std::unique_ptr<FaultyEngine> engine;
  std::unique_ptr<CommitCycle> cycle;
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
  const auto answers = cycle->run({controller::Submit{.jobs = {late}}}, now);
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

TEST_F(Dependencies, AJobStartsNotBeforeItsBeginTime) {
  start(10 * kSecond);
  const TimeNs begin = now + 60 * kSecond;
  const JobId first = submit(1'000 * kSecond, 0);
  const JobId later = submit(kSecond, 0, job::JobSpec{.begin_ns = begin});
  const JobId held = submit(kSecond, 0, job::JobSpec{.begin_ns = begin, .held = true});
  const JobId past = submit(1'000 * kSecond, 0, job::JobSpec{.begin_ns = begin - 100 * kSecond});
  const JobId both =
      submit(kSecond, 0,
             job::JobSpec{.begin_ns = begin,
                          .dependencies = {{.kind = job::DependencyKind::AfterAny, .job = first}}});
  EXPECT_EQ(find(later)->stage, controller::JobStage::Depends);
  EXPECT_EQ(cycle->controller().wake_ns(), begin);
  pass(10 * kSecond);
  EXPECT_EQ(find(past)->stage, controller::JobStage::Running);
  // A restart by the journal, and one by a snapshot.
  start(10 * kSecond);
  ASSERT_TRUE(cycle->compact());
  start(10 * kSecond);
  EXPECT_EQ(cycle->controller().wake_ns(), begin);
  pass(begin - kSecond - now);
  EXPECT_EQ(find(later)->stage, controller::JobStage::Depends);
  EXPECT_EQ(find(later)->runs, 0U);
  engine->fates[later] = {.takes_ns = kSecond};
  pass(6 * kSecond);
  EXPECT_GE(find(later)->first_start_ns, begin);
  EXPECT_EQ(find(later)->result, controller::JobResult::Completed);
  EXPECT_EQ(find(held)->stage, controller::JobStage::Held);
  EXPECT_EQ(find(both)->stage, controller::JobStage::Depends) << "the other job still runs";
  start(10 * kSecond);  // every decision comes out the same again
}

TEST_F(Dependencies, ASingletonWaitsForEarlierJobsOfItsNameAndUser) {
  start(3'600 * kSecond);
  const auto named = [](const char* name, uint32_t uid, bool alone) {
    job::JobSpec spec{.name = name, .owner = {.uid = uid}};
    if (alone) spec.dependencies = {{.kind = job::DependencyKind::Singleton}};
    return spec;
  };
  const JobId first = submit(20 * kSecond, 0, named("nightly", 1, true));
  const JobId second = submit(20 * kSecond, 0, named("nightly", 1, true));
  const JobId third = submit(20 * kSecond, 0, named("nightly", 1, true));
  const JobId of_another_user = submit(20 * kSecond, 0, named("nightly", 2, true));
  const JobId of_another_name = submit(20 * kSecond, 0, named("daily", 1, true));
  pass(10 * kSecond);
  for (const JobId job : {first, of_another_user, of_another_name}) {
    EXPECT_EQ(find(job)->stage, controller::JobStage::Running) << job.value;
  }
  EXPECT_EQ(find(second)->stage, controller::JobStage::Depends);
  start(3'600 * kSecond);
  ASSERT_TRUE(cycle->compact());
  start(3'600 * kSecond);
  engine->fates[second] = engine->fates[third] = {.takes_ns = 20 * kSecond};
  (void)cycle->run({controller::Cancel{.job = first, .by = {.is_operator = true}}}, now);
  pass(15 * kSecond);
  EXPECT_EQ(find(first)->stage, controller::JobStage::Done);
  EXPECT_EQ(find(second)->stage, controller::JobStage::Running);
  EXPECT_EQ(find(third)->stage, controller::JobStage::Depends);
  pass(60 * kSecond);
  EXPECT_EQ(find(third)->result, controller::JobResult::Completed);
  EXPECT_GE(find(third)->first_start_ns, find(second)->end_ns);
}

TEST_F(Dependencies, ASingletonWaitsForALaterJobOfItsNameThatRuns) {
  start(3'600 * kSecond);
  const JobId alone =
      submit(kSecond, 0,
             job::JobSpec{.name = "nightly",
                          .begin_ns = now + 20 * kSecond,
                          .dependencies = {{.kind = job::DependencyKind::Singleton}}});
  const JobId later = submit(50 * kSecond, 0, job::JobSpec{.name = "nightly"});
  pass(30 * kSecond);
  EXPECT_EQ(find(later)->stage, controller::JobStage::Running);
  EXPECT_EQ(find(alone)->stage, controller::JobStage::Depends);
  pass(60 * kSecond);
  EXPECT_EQ(find(alone)->result, controller::JobResult::Completed);
}

}  // namespace
}  // namespace goban::live::loop
