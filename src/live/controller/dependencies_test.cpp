#include "live/controller/dependencies.hpp"

#include <gtest/gtest.h>

namespace goban::live::controller {
namespace {

using job::DependencyKind;

struct DependencyTest : testing::Test {
  LiveJob& add(uint32_t id, JobStage stage, JobResult result = JobResult::None) {
    return book.jobs[JobId(id)] = {.job = JobId(id), .stage = stage, .result = result};
  }
  /// A new job that depends on job 0 in this way.
  [[nodiscard]] DependencyState state(DependencyKind kind) const {
    return judge_dependencies(dependent(kind), book).state;
  }
  [[nodiscard]] static LiveJob dependent(DependencyKind kind) {
    LiveJob job{.job = JobId(9U)};
    job.spec.dependencies = {{.kind = kind, .job = JobId(0U)}};
    return job;
  }
  JobBook book;
};

TEST_F(DependencyTest, AfterWaitsForTheStartAlone) {
  LiveJob& first = add(0, JobStage::Waiting);
  EXPECT_EQ(state(DependencyKind::After), DependencyState::Waiting);
  first.first_start_ns = 5;
  EXPECT_EQ(state(DependencyKind::After), DependencyState::Satisfied);
  EXPECT_EQ(state(DependencyKind::AfterAny), DependencyState::Waiting);
}

TEST_F(DependencyTest, TheResultDecidesAfterOkAndAfterNotOk) {
  add(0, JobStage::Running);
  EXPECT_EQ(state(DependencyKind::AfterOk), DependencyState::Waiting);
  EXPECT_EQ(state(DependencyKind::AfterNotOk), DependencyState::Waiting);
  add(0, JobStage::Done, JobResult::Completed);
  EXPECT_EQ(state(DependencyKind::AfterOk), DependencyState::Satisfied);
  EXPECT_EQ(state(DependencyKind::AfterNotOk), DependencyState::Never);
  EXPECT_EQ(state(DependencyKind::AfterAny), DependencyState::Satisfied);
  add(0, JobStage::Done, JobResult::TimedOut);
  EXPECT_EQ(state(DependencyKind::AfterOk), DependencyState::Never);
  EXPECT_EQ(state(DependencyKind::AfterNotOk), DependencyState::Satisfied);
  EXPECT_EQ(judge_dependencies(dependent(DependencyKind::AfterOk), book).detail,
            "job 1 did not complete");
}

TEST_F(DependencyTest, OneThatCanNeverBeMetWinsOverOneThatIsOpen) {
  add(0, JobStage::Done, JobResult::Failed);
  add(1, JobStage::Running);
  LiveJob job = dependent(DependencyKind::AfterOk);
  job.spec.dependencies.insert(job.spec.dependencies.begin(),
                               {.kind = DependencyKind::AfterAny, .job = JobId(1U)});
  EXPECT_EQ(judge_dependencies(job, book).state, DependencyState::Never);
}

TEST_F(DependencyTest, AForgottenJobIsOver) {
  EXPECT_EQ(state(DependencyKind::AfterAny), DependencyState::Satisfied);
  EXPECT_EQ(state(DependencyKind::AfterOk), DependencyState::Never);
  LiveJob waited = dependent(DependencyKind::AfterOk);
  waited.stage = JobStage::Depends;
  EXPECT_EQ(judge_dependencies(waited, book).state, DependencyState::Satisfied);
}

TEST_F(DependencyTest, DependentsAreFoundUntilTheJobIsOver) {
  add(0, JobStage::Running);
  Dependents dependents;
  LiveJob job = dependent(DependencyKind::AfterAny);
  dependents.add(job, book);
  job.job = JobId(7U);
  dependents.add(job, book);
  const std::vector<JobId> both{JobId(9U), JobId(7U)};
  EXPECT_EQ(dependents.of(JobId(0U), false), both);
  EXPECT_EQ(dependents.of(JobId(0U), true), both);
  EXPECT_TRUE(dependents.of(JobId(0U), true).empty());
}

TEST_F(DependencyTest, NobodyWaitsForAJobThatIsOver) {
  add(0, JobStage::Done, JobResult::Completed);
  Dependents dependents;
  dependents.add(dependent(DependencyKind::AfterAny), book);
  EXPECT_TRUE(dependents.of(JobId(0U), false).empty());
}

}  // namespace
}  // namespace goban::live::controller
