// Jobs of the engine's own queue, and resources that somebody else uses: nothing fails for them.
#include <gmock/gmock.h>

#include "live/loop/test_scripted_world.hpp"

namespace goban::live::loop {
namespace {

using controller::JobResult;
using controller::JobStage;
using testing::ElementsAre;
using testing::IsEmpty;

struct FoundJobs : testing::Test, ScriptedWorld {
  void TearDown() override { EXPECT_EQ(replay_problem(), ""); }
};

TEST_F(FoundJobs, AJobThatRunsElsewhereOnlyHoldsWhatItHolds) {
  step({running("41", {{.node = "n0", .gpus = {0, 1}}, {.node = "nowhere", .gpus = {7}}})});
  EXPECT_EQ(free_gpus(), 2);
  EXPECT_EQ(job(0).stage, JobStage::Running);
  EXPECT_EQ(job(0).engine_id, "41");
  EXPECT_FALSE(job(0).managed);
  ASSERT_TRUE(ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 3}}})[0]);
  EXPECT_THAT(engine.launches, IsEmpty());
  EXPECT_FALSE(ask(controller::Cancel{.job = JobId(0U), .by = kOperator})[0]) << "it is not ours";
  EXPECT_FALSE(ask(controller::Requeue{.job = JobId(0U), .by = kOperator})[0]);
  step({JobGone{.id = "41", .how = GoneHow::Completed, .exit_code = 0}});
  EXPECT_EQ(job(0).result, JobResult::Completed);
  EXPECT_THAT(cycle.take_accounts(), IsEmpty()) << "its site accounts for it";
  ASSERT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(free_gpus(), 1);
}

TEST_F(FoundJobs, ItsProgressIsShown) {
  step({running("41", {{.node = "n0", .gpus = {0}}})});
  Report said{.kind = ReportKind::Progress, .run = {.job = JobId(0U), .run = 0}};
  said.progress.loss = 0.5;
  said.progress.epoch = 2;
  step({said});
  EXPECT_EQ(job(0).progress.loss, 0.5);
  EXPECT_EQ(job(0).progress.epoch, 2);
  EXPECT_GE(job(0).progress_ns, 0);
  said.progress.loss = 0.25;
  said.run.run = 1;
  step({said});
  EXPECT_EQ(job(0).progress.loss, 0.5) << "it has no run 1";
  ASSERT_TRUE(ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 1}}})[0]);
  said.run = {.job = JobId(1U), .run = 0};
  step({said});
  EXPECT_LT(job(1).progress.epoch, 0) << "ours have runs";
}

TEST_F(FoundJobs, WhatStandsInTheWayIsWithdrawnAndTheNodeIsClosedUntilThen) {
  ASSERT_TRUE(ask(controller::Submit{.jobs = {2, job::JobSpec{.num_gpus = 1}}})[0]);
  ASSERT_EQ(engine.launches.size(), 2U);
  const NodePart part = engine.launches[0].parts.front();
  step({Report{.kind = ReportKind::Started, .run = engine.launches[0].run},
        Report{.kind = ReportKind::Started, .run = engine.launches[1].run}});
  step({running("41", {{.node = part.node, .gpus = {part.gpus.front()}}})});
  EXPECT_THAT(engine.stops, ElementsAre(std::pair(engine.launches[0].run, StopReason::Preempted)));
  EXPECT_EQ(cycle.controller().holds().size(), 1U);
  ASSERT_TRUE(ask(controller::Submit{.jobs = {2, job::JobSpec{.num_gpus = 1}}})[0]);
  EXPECT_EQ(job(0).stage, JobStage::Stopping);
  for (size_t i = 2; i < engine.launches.size(); ++i) {
    EXPECT_NE(engine.launches[i].parts.front().node, part.node) << "the node is closed";
  }
  step({Report{.kind = ReportKind::Ended, .run = engine.launches[0].run, .signal = 15}});
  EXPECT_THAT(cycle.controller().holds(), IsEmpty());
  EXPECT_EQ(job(0).breakages, 0U);
  EXPECT_EQ(book().runs.size(), 3U) << "one GPU is held elsewhere";
}

TEST_F(FoundJobs, AJobOfTheEnginesQueueIsLaunchedThere) {
  JobSeen seen = waiting("8", 2);
  seen.blocked = "QOSMaxJobs";
  step({seen});
  EXPECT_EQ(job(0).stage, JobStage::Depends);
  EXPECT_THAT(engine.launches, IsEmpty());
  seen.blocked.clear();
  seen.spec.held = true;
  step({seen});
  EXPECT_EQ(job(0).blocked, "held by its user");
  seen.spec.held = false;
  step({seen, seen});
  ASSERT_EQ(engine.launches.size(), 1U);
  const LaunchOrder order = engine.launches[0];
  EXPECT_EQ(order.engine_id, "8");
  seen.state = SeenState::Running;
  seen.run = order.run;
  seen.parts = order.parts;
  step({Report{.kind = ReportKind::Started, .run = order.run}, seen});
  EXPECT_EQ(job(0).stage, JobStage::Running);
  EXPECT_FALSE(book().runs.begin()->second.found);
  step({Report{.kind = ReportKind::Ended, .run = order.run, .exit_code = 0},
        JobGone{.id = "8", .how = GoneHow::Completed}});
  EXPECT_EQ(job(0).result, JobResult::Completed);
  EXPECT_THAT(cycle.take_accounts(), ElementsAre(JobId(0U)));
  EXPECT_EQ(free_gpus(), 4);
  // The number may be used again.
  step({waiting("8")});
  EXPECT_EQ(job(1).engine_id, "8");
}

TEST_F(FoundJobs, WhatTheClusterCannotRequeueIsRefused) {
  JobSeen seen = waiting("8", 1);
  seen.spec.requeue = false;  // an allocation of salloc
  step({seen});
  step({Report{.kind = ReportKind::Started, .run = engine.launches.at(0).run}});
  const auto refused = ask(controller::Requeue{.job = JobId(0U), .by = kOperator}).at(0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("cannot be requeued"));
  EXPECT_THAT(engine.stops, IsEmpty());
}

TEST_F(FoundJobs, TheBooksFollowWhatWasReallyGiven) {
  step({waiting("8", 1)});
  ASSERT_EQ(engine.launches.size(), 1U);
  const LaunchOrder order = engine.launches[0];
  const std::string other = order.parts.front().node == "n0" ? "n1" : "n0";
  Report started{.kind = ReportKind::Started, .run = order.run};
  started.parts = {{.node = other, .gpus = {1}}};
  step({started});
  EXPECT_EQ(job(0).stage, JobStage::Running);
  const auto node = *site.cluster.find_node(other);
  EXPECT_THAT(job(0).gpus, ElementsAre(GpuId(site.cluster.node(node).first_gpu + 1)));
  EXPECT_EQ(free_gpus(), 3);
  // It is still ours: a requeue stops it, and it goes on.
  ASSERT_TRUE(ask(controller::Requeue{.job = JobId(0U), .by = kOperator})[0]);
  EXPECT_EQ(engine.stops.size(), 1U);
  step({Report{.kind = ReportKind::Ended, .run = order.run, .signal = 15}});
  EXPECT_EQ(engine.launches.size(), 2U);
  EXPECT_EQ(free_gpus(), 3);
}

TEST_F(FoundJobs, ACancelAfterARequeueEndsTheJobThere) {
  step({waiting("8", 1)});
  const LaunchOrder order = engine.launches.at(0);
  step({Report{.kind = ReportKind::Started, .run = order.run}});
  ASSERT_TRUE(ask(controller::Requeue{.job = JobId(0U), .by = kOperator})[0]);
  ASSERT_TRUE(ask(controller::Cancel{.job = JobId(0U), .by = kOperator})[0]);
  ASSERT_EQ(engine.stops.size(), 2U);
  EXPECT_EQ(engine.stops[1], std::pair(order.run, StopReason::Cancelled));
}

TEST_F(FoundJobs, WhatFollowsUnderTheIdOfOneThatIsGoneIsLeftAlone) {
  step({waiting("8", 1)});
  const LaunchOrder order = engine.launches.at(0);
  step({Report{.kind = ReportKind::Started, .run = order.run}});
  step({Report{.kind = ReportKind::Ended, .run = order.run, .signal = 15, .cancelled = true},
        JobGone{.id = "8", .how = GoneHow::Cancelled}});
  EXPECT_EQ(job(0).result, JobResult::Cancelled);
  EXPECT_THAT(engine.withdrawn, IsEmpty());
  step({waiting("8", 1)});
  EXPECT_EQ(engine.launches.size(), 2U);
}

/// Slurm chooses GPUs itself, and may exchange those of two jobs that start on one node.
TEST_F(FoundJobs, JobsWhoseGpusWereExchangedGoOn) {
  step({waiting("8", 1), waiting("9", 1)});
  ASSERT_EQ(engine.launches.size(), 2U);
  const LaunchOrder first = engine.launches[0];
  const LaunchOrder second = engine.launches[1];
  ASSERT_EQ(first.parts[0].node, second.parts[0].node);
  Report started{.kind = ReportKind::Started, .run = first.run, .parts = second.parts};
  step({started});
  EXPECT_THAT(engine.stops, IsEmpty());
  EXPECT_EQ(job(0).gpus, second.gpus);
  EXPECT_EQ(job(1).gpus, first.gpus) << "as far as we know";
  EXPECT_EQ(free_gpus(), 2);
  started.run = second.run;
  started.parts = first.parts;
  step({started});
  EXPECT_THAT(engine.stops, IsEmpty());
  EXPECT_EQ(job(1).stage, JobStage::Running);
  EXPECT_EQ(free_gpus(), 2);
  step({Report{.kind = ReportKind::Ended, .run = first.run, .exit_code = 0},
        Report{.kind = ReportKind::Ended, .run = second.run, .exit_code = 0}});
  EXPECT_EQ(free_gpus(), 4);
}

TEST_F(FoundJobs, AJobWhoseGpusWereExchangedMayBeDeclined) {
  step({waiting("8", 1), waiting("9", 1)});
  const LaunchOrder first = engine.launches.at(0);
  const LaunchOrder second = engine.launches.at(1);
  step({Report{.kind = ReportKind::Started, .run = first.run, .parts = second.parts}});
  step({Report{.kind = ReportKind::Declined, .run = second.run}});
  EXPECT_EQ(job(1).breakages, 0U);
  ASSERT_EQ(engine.launches.size(), 3U) << "on the other node";
  EXPECT_EQ(engine.launches[2].engine_id, "9");
}

TEST_F(FoundJobs, AStoppingRunMayHoldOtherGpusThanItsNextOne) {
  step({waiting("8", 1)});
  const LaunchOrder order = engine.launches.at(0);
  step({running("41", order.parts)});
  ASSERT_EQ(engine.stops.size(), 1U);
  const GpuId next = cycle.controller().core().allocation(JobId(0U)).gpus.front();
  Report started{.kind = ReportKind::Started, .run = order.run};
  for (const char* node : {"n0", "n1"}) {
    for (uint32_t index = 0; index < 2; ++index) {
      if (gpu(node, index) == next || gpu(node, index) == order.gpus.front()) continue;
      started.parts = {{.node = node, .gpus = {static_cast<int32_t>(index)}}};
    }
  }
  step({started});
  EXPECT_EQ(free_gpus(), 1);
  EXPECT_EQ(replay_problem(), "") << "a snapshot of this is read";
  step({Report{.kind = ReportKind::Lost, .run = order.run}});
  EXPECT_EQ(engine.launches.size(), 2U);
  EXPECT_EQ(free_gpus(), 2);
}

TEST_F(FoundJobs, WhatTheEngineStartedItselfIsAdopted) {
  JobSeen wide = waiting("8", 4);
  wide.spec.instances = 2;
  step({wide});
  ASSERT_TRUE(ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = 2}}})[0]);
  step({waiting("9", 2)});
  ASSERT_EQ(job(2).stage, JobStage::Waiting);
  step({running("9", {{.node = "n1", .gpus = {1, 0}}}, true)});
  EXPECT_EQ(job(2).stage, JobStage::Running);
  ASSERT_EQ(engine.resumed.size(), 1U);
  EXPECT_EQ(engine.resumed[0].engine_id, "9");
  EXPECT_EQ(engine.stops.size(), 1U) << "job 8 was in the way";
  step({Report{.kind = ReportKind::Lost, .run = engine.launches[0].run}});
  // Goban may stop it, and its end may be reported by either name.
  ASSERT_TRUE(ask(controller::Cancel{.job = JobId(2U), .by = kOperator})[0]);
  ASSERT_EQ(engine.stops.size(), 2U);
  EXPECT_EQ(engine.stops[1], (std::pair(engine.resumed[0].run, StopReason::Cancelled)));
  step({JobGone{.id = "9", .how = GoneHow::Cancelled}});
  EXPECT_EQ(job(2).result, JobResult::Cancelled);
  EXPECT_TRUE(cycle.controller().core().state().found().empty());
}

TEST_F(FoundJobs, WhatTheEngineRequeuedItselfWaitsAgain) {
  step({running("9", {{.node = "n1", .gpus = {0}}}, true)});
  EXPECT_EQ(free_gpus(), 3);
  step({waiting("9", 1)});
  ASSERT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(engine.launches[0].run, (RunId{JobId(0U), 2}));
  EXPECT_EQ(job(0).breakages, 0U);
}

TEST_F(FoundJobs, ADeclinedJobWaitsAndWhatWasNamedIsLeftOut) {
  step({waiting("8", 1)});
  LaunchOrder order = engine.launches.at(0);
  Report declined{.kind = ReportKind::Declined, .run = order.run, .detail = "taken by job 77"};
  declined.parts = order.parts;
  step({declined});
  ASSERT_EQ(engine.launches.size(), 2U) << "elsewhere at once";
  EXPECT_NE(engine.launches[1].gpus, order.gpus);
  EXPECT_EQ(job(0).breakages, 0U);
  EXPECT_EQ(engine.launches[1].restarts, 0U);
  // A whole node.
  declined.run = engine.launches[1].run;
  declined.parts = {{.node = "n0"}, {.node = "n1"}};
  step({declined});
  EXPECT_EQ(engine.launches.size(), 2U);
  EXPECT_EQ(job(0).stage, JobStage::Waiting);
  EXPECT_EQ(cycle.controller().holds().size(), 2U);
  now += site.decline_hold_ns;
  step();
  EXPECT_EQ(engine.launches.size(), 3U) << "not for ever";
  EXPECT_EQ(free_gpus(), 3);
}

TEST_F(FoundJobs, ACancelledJobIsEndedThereToo) {
  JobSeen seen = waiting("8", 1);
  seen.blocked = "a dependency";
  step({seen});
  ASSERT_TRUE(ask(controller::Cancel{.job = JobId(0U), .by = kOperator})[0]);
  EXPECT_THAT(engine.withdrawn, ElementsAre("8"));
  EXPECT_EQ(job(0).stage, JobStage::Stopping);
  cycle.resume();
  EXPECT_THAT(engine.withdrawn, ElementsAre("8", "8")) << "until it is gone";
  // It started in the meantime: it is ended all the same.
  step({running("8", {{.node = "n1", .gpus = {0}}}, true)});
  EXPECT_EQ(engine.withdrawn.size(), 3U);
  EXPECT_EQ(free_gpus(), 3);
  step({JobGone{.id = "8", .how = GoneHow::Cancelled}});
  EXPECT_EQ(job(0).result, JobResult::Cancelled);
  EXPECT_EQ(free_gpus(), 4);
}

TEST_F(FoundJobs, AnEndInTheEnginesQueueEndsAWaitingJob) {
  step({waiting("8", 4), waiting("9", 4)});
  step({JobGone{.id = "9", .how = GoneHow::Cancelled, .detail = "scancel"}});
  EXPECT_EQ(job(1).result, JobResult::Cancelled);
  EXPECT_EQ(job(1).detail, "scancel");
  EXPECT_THAT(cycle.take_accounts(), ElementsAre(JobId(1U)));
}

TEST_F(FoundJobs, AJobMayBecomeOursAndLeaveAgain) {
  step({running("8", {{.node = "n1", .gpus = {0}}})});
  step({waiting("8", 1)});
  ASSERT_EQ(engine.launches.size(), 1U);
  JobSeen seen = waiting("8", 1);
  seen.managed = false;
  step({seen});
  EXPECT_FALSE(job(0).managed);
  EXPECT_TRUE(book().runs.empty());
  EXPECT_EQ(free_gpus(), 4);
  step({running("8", {{.node = "n0", .gpus = {0, 1}}})});
  EXPECT_EQ(free_gpus(), 2);
}

TEST_F(FoundJobs, AnArrayKeepsItsLimit) {
  for (int task = 0; task < 3; ++task) {
    JobSeen seen = waiting("8_" + std::to_string(task), 1);
    seen.array = "8";
    seen.spec.array_task = task;
    seen.spec.array_limit = 1;
    step({seen});
  }
  EXPECT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(job(2).spec.array_first, JobId(0U));
  step({Report{.kind = ReportKind::Ended, .run = engine.launches[0].run, .exit_code = 0}});
  EXPECT_EQ(engine.launches.size(), 2U);
}

TEST_F(FoundJobs, ANewDaemonTellsTheEngineWhatItKnows) {
  JobSeen blocked = waiting("7");
  blocked.blocked = "a limit";
  step({waiting("8", 1), blocked, running("41", {{.node = "n1", .gpus = {0}}})});
  step({Report{.kind = ReportKind::Started, .run = engine.launches.at(0).run}});
  ASSERT_TRUE(ask(controller::Cancel{.job = JobId(1U), .by = kOperator})[0]);
  CommitCycle next(site, log, engine);
  ASSERT_TRUE(next.fold(log.safe));
  next.recall();
  ASSERT_EQ(engine.recalled.size(), 3U);
  EXPECT_EQ(engine.recalled[0].engine_id, "41");
  EXPECT_FALSE(engine.recalled[0].managed);
  EXPECT_EQ(engine.recalled[0].parts.front(), (NodePart{.node = "n1", .gpus = {0}}));
  EXPECT_TRUE(engine.recalled[1].withdrawn);
  EXPECT_EQ(engine.recalled[2].run, engine.launches[0].run);
  EXPECT_TRUE(engine.recalled[2].launched);
}

TEST_F(FoundJobs, NoNameOrNumberOfOthersBreaksTheJournal) {
  JobSeen seen = running("4\n1\xff", {{.node = "n1\n", .gpus = {5, 1 << 30}}});
  seen.spec.name = "x\ny\xc3";
  seen.spec.num_gpus = 1 << 20;
  step({seen, waiting("big", 1'000), JobGone{.id = "never seen"}});
  EXPECT_EQ(free_gpus(), 4);
  EXPECT_EQ(job(1).stage, JobStage::Depends) << "it is larger than the cluster";
  EXPECT_FALSE(job(1).misfit.empty());
}

}  // namespace
}  // namespace goban::live::loop
