// Nodes come and go: the whole list is told, and everything follows by name.
#include <gmock/gmock.h>

#include "live/loop/test_scripted_world.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;
using controller::JobStage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct NodesSeen : testing::Test, ScriptedWorld {
  void TearDown() override {
    if (book().next_job == book().jobs.size()) {  // none was forgotten
      EXPECT_EQ(replay_problem(), "");
    }
  }
  static SeenNode node(std::string name, int32_t gpus = 2,
                       SeenNodeState state = SeenNodeState::Up) {
    return {.name = std::move(name), .num_gpus = gpus, .gpu_model = "test", .state = state};
  }
  const core::model::Cluster& cluster() { return cycle.controller().site().cluster; }
  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& each : cluster().nodes()) out.push_back(each.name);
    return out;
  }
  /// A job of these GPUs that runs.
  LaunchOrder run(int32_t gpus) {
    EXPECT_TRUE(ask(controller::Submit{.jobs = {job::JobSpec{.num_gpus = gpus}}})[0]);
    LaunchOrder order = engine.launches.back();
    step({Report{.kind = ReportKind::Started, .run = order.run}});
    return order;
  }
};

TEST_F(NodesSeen, ANodeThatJoinsIsUsed) {
  JobSeen wide = waiting("8", 6);
  wide.spec.instances = 3;
  step({wide});
  EXPECT_EQ(job(0).stage, JobStage::Depends) << "it is larger than the cluster";
  const auto& before = cluster();
  step({ClusterSeen{.nodes = {node("n0"), node("n1"), node("n2")}}});
  ASSERT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(engine.launches[0].parts.size(), 3U);
  EXPECT_EQ(before.nodes().size(), 2U) << "whoever still reads the former cluster may";
}

SeenNode in(SeenNode node, std::vector<std::string> partitions) {
  node.partitions = std::move(partitions);
  return node;
}

TEST_F(NodesSeen, AJobIsPlacedOnNodesOfItsPartition) {
  JobSeen small = waiting("8", 1);
  small.spec.partition = "short";
  JobSeen wide = waiting("9", 2);
  wide.spec.partition = "short";
  wide.spec.instances = 2;
  step({ClusterSeen{.nodes = {in(node("n0"), {"gpu"}), in(node("n1"), {"gpu", "short"})}}, small,
        wide});
  ASSERT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(engine.launches[0].parts.at(0).node, "n1");
  EXPECT_EQ(job(1).misfit, "it needs 2 nodes with 1 GPU in partition short; there is 1");
  step({Report{.kind = ReportKind::Started, .run = engine.launches[0].run}});
  EXPECT_EQ(replay_problem(), "") << "a restart knows the kinds of parts by their numbers";
  // Another node joins the partition.
  step({ClusterSeen{.nodes = {in(node("n0"), {"gpu", "short"}), in(node("n1"), {"gpu", "short"}),
                              in(node("n2", 4), {"gpu"})}}});
  ASSERT_EQ(engine.launches.size(), 2U);
  EXPECT_EQ(engine.launches[1].parts.size(), 2U) << "each on a node of its own";
  for (const NodePart& part : engine.launches[1].parts) EXPECT_NE(part.node, "n2");
}

TEST_F(NodesSeen, AWaitingJobFollowsItsPartition) {
  step({running("41", {{.node = "n0", .gpus = {0, 1}}}),
        running("42", {{.node = "n1", .gpus = {0, 1}}})});
  JobSeen small = waiting("8", 1);
  small.spec.partition = "short";
  step({small});
  // Until now all nodes were in it.
  step({ClusterSeen{.nodes = {in(node("n0"), {"gpu"}), in(node("n1"), {"gpu", "short"})}}});
  step({JobGone{.id = "41", .how = GoneHow::Completed}});
  EXPECT_THAT(engine.launches, IsEmpty());
  step({JobGone{.id = "42", .how = GoneHow::Completed}});
  ASSERT_EQ(engine.launches.size(), 1U);
  EXPECT_EQ(engine.launches[0].parts.at(0).node, "n1");
}

TEST_F(NodesSeen, EverythingFollowsByName) {
  const LaunchOrder order = run(1);
  const NodePart part = order.parts.front();
  const std::string other = part.node == "n0" ? "n1" : "n0";
  step({running("41", {{.node = other, .gpus = {0}}})});
  ASSERT_TRUE(ask(controller::Drain{.node = *cluster().find_node(other), .reason = "fan"})[0]);
  step({ClusterSeen{.nodes = {node("a"), node("n1"), node("b"), node("n0")}}});
  EXPECT_THAT(names(), ElementsAre("a", "n1", "b", "n0"));
  EXPECT_THAT(job(0).gpus, ElementsAre(gpu(part.node, static_cast<uint32_t>(part.gpus[0]))));
  EXPECT_EQ(cycle.controller().core().allocation(JobId(0U)).gpus, job(0).gpus);
  EXPECT_THAT(job(1).gpus, ElementsAre(gpu(other, 0)));
  EXPECT_EQ(cycle.controller().drained().begin()->first, *cluster().find_node(other));
  EXPECT_THAT(engine.stops, IsEmpty());
  step({Report{.kind = ReportKind::Ended, .run = order.run, .exit_code = 0},
        JobGone{.id = "41", .how = GoneHow::Completed}});
  EXPECT_EQ(free_gpus(), 8);
}

TEST_F(NodesSeen, ADrainedNodeThatOffersNoGpusKeepsWhatItHad) {
  const LaunchOrder order = run(1);
  const std::string held = order.parts.front().node, other = held == "n0" ? "n1" : "n0";
  SeenNode hidden{.name = held, .state = SeenNodeState::Drained, .reason = "offers no GPUs"};
  step({ClusterSeen{.nodes = {hidden, node(other)}}});
  EXPECT_THAT(engine.stops, IsEmpty()) << "what runs there goes on";
  EXPECT_TRUE(cycle.controller().drained().contains(*cluster().find_node(held)));
  EXPECT_EQ(job(0).gpus.size(), 1U);
  step({ClusterSeen{.nodes = {node(held), node(other)}}});
  EXPECT_THAT(engine.stops, IsEmpty());
  EXPECT_THAT(names(), ElementsAre("n0", "n1"));
}

TEST_F(NodesSeen, AGoneNodeIsFencedByADaemonThatNeverSawIt) {
  SeenNode gone = node("n7", 1, SeenNodeState::Drained);
  gone.silent = true;
  step({ClusterSeen{.nodes = {gone, node("n0"), node("n1")}}});
  EXPECT_TRUE(ask(controller::Fence{.node = *cluster().find_node("n7")})[0]);
  EXPECT_THAT(engine.fenced, ElementsAre("n7"));
  // Of a node that it knew, less is seen than it has.
  gone.name = "n0";
  step({ClusterSeen{.nodes = {gone, node("n1")}}});
  EXPECT_EQ(cluster().nodes()[cluster().find_node("n0")->index()].num_gpus, 2U);
}

TEST_F(NodesSeen, ANodeThatIsDownSaysWhy) {
  const NodeId n0 = *cluster().find_node("n0");
  SeenNode lost = node("n0", 2, SeenNodeState::Drained);
  lost.reason = "its pods are not gone";
  step({ClusterSeen{.nodes = {lost, node("n1")}}});
  lost.state = SeenNodeState::Down;
  lost.reason = "not ready";
  step({ClusterSeen{.nodes = {lost, node("n1")}}});
  EXPECT_EQ(cycle.controller().drained().at(n0), "not ready");
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_FALSE(cycle.controller().drained().contains(n0));
  EXPECT_TRUE(cycle.controller().core().state().resources().rooms()[n0.index()].open);
}

TEST_F(NodesSeen, ANodeThatLeftStaysUntilNothingNamesIt) {
  const LaunchOrder order = run(4);
  step({ClusterSeen{.nodes = {node("n1"), node("n2")}}});
  EXPECT_THAT(names(), ElementsAre("n1", "n2", "n0"));
  EXPECT_THAT(engine.stops, ElementsAre(std::pair(order.run, StopReason::Broken)));
  step({Report{.kind = ReportKind::Lost, .run = order.run}});
  ASSERT_EQ(engine.launches.size(), 2U) << "on those that are left";
  EXPECT_EQ(engine.launches[1].gpus.size(), 4U);
  for (const NodePart& part : engine.launches[1].parts) EXPECT_NE(part.node, "n0");
  step({Report{.kind = ReportKind::Ended, .run = engine.launches[1].run, .exit_code = 0}});
  for (const JobId id : cycle.take_accounts()) cycle.accounted(id, now);
  now += 2 * site.keep_ended_ns;
  step();
  now += 2 * site.keep_ended_ns;
  step({ClusterSeen{.nodes = {node("n1"), node("n2"), node("n3")}}});
  step({ClusterSeen{.nodes = {node("n1"), node("n2")}}});
  EXPECT_THAT(names(), ElementsAre("n1", "n2"));
  EXPECT_EQ(free_gpus(), 4);
  // A fold still has the job that was forgotten; its decisions are the same.
  CommitCycle again(site, log, engine);
  const auto fold = again.fold(log.safe);
  ASSERT_TRUE(fold);
  EXPECT_EQ(fold->other, 0);
  EXPECT_TRUE(again.compact());
}

TEST_F(NodesSeen, TheEnginesStatesAreFollowed) {
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Drained), node("n1")}}});
  ASSERT_TRUE(ask(controller::Submit{.jobs = {3, job::JobSpec{.num_gpus = 1}}})[0]);
  EXPECT_EQ(engine.launches.size(), 2U);
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Down), node("n1")}}});
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_EQ(engine.launches.size(), 3U);
  // An operator's own drain outlives them.
  ASSERT_TRUE(ask(controller::Drain{.node = *cluster().find_node("n1"), .reason = "fan"})[0]);
  step({ClusterSeen{.nodes = {node("n0"), node("n1", 2, SeenNodeState::Drained)}}});
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_EQ(cycle.controller().drained().size(), 1U);
}

TEST_F(NodesSeen, OnlyANodeThatIsDownIsFenced) {
  const controller::Fence fence{.node = *cluster().find_node("n0")};
  EXPECT_FALSE(ask(fence)[0]) << "what runs there would run twice";
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Down), node("n1")}}});
  EXPECT_TRUE(ask(fence)[0]);
  EXPECT_FALSE(ask(controller::Fence{.node = NodeId(7U)})[0]);
  EXPECT_THAT(engine.fenced, ElementsAre("n0"));
  const auto text = controller::to_text({.at_ns = 5, .input = fence});
  EXPECT_EQ(controller::to_text(controller::parse_input(text).value()), text);
  controller::Site other = site;
  other.fences_nodes = false;
  const auto refused = CommitCycle(other, log, engine).controller().check(fence);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("waits for no dead node"));
}

TEST_F(NodesSeen, ANodeThatItsClusterDrainedIsResumedThere) {
  SeenNode cordoned = node("n0", 2, SeenNodeState::Drained);
  cordoned.reason = "cordoned";
  step({ClusterSeen{.nodes = {cordoned, node("n1")}}});
  const controller::Resume resume{.node = *cluster().find_node("n0")};
  const auto refused = cycle.controller().check(resume);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("the cluster drained it: cordoned"));
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_TRUE(cycle.controller().check(resume));
}

TEST_F(NodesSeen, ADrainOutlivesALoss) {
  const NodeId n0 = *cluster().find_node("n0");
  ASSERT_TRUE(ask(controller::Drain{.node = n0, .reason = "fan"})[0]);
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Down), node("n1")}}});
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_TRUE(cycle.controller().drained().contains(n0));
  const auto& rooms = cycle.controller().core().state().resources().rooms();
  EXPECT_TRUE(rooms[n0.index()].open) << "it is back, and drained";
}

TEST_F(NodesSeen, WhatAnEngineCannotSuspendIsRefused) {
  controller::Site other = site;
  other.suspends_jobs = false;
  const auto refused =
      CommitCycle(other, log, engine).controller().check(controller::Suspend{.job = JobId(0U)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("cannot suspend"));
}

TEST_F(NodesSeen, ASilentNodeIsFencedBeforeItIsDown) {
  const controller::Fence fence{.node = *cluster().find_node("n0")};
  SeenNode silent = node("n0", 2, SeenNodeState::Drained);
  silent.reason = "cordoned";
  step({ClusterSeen{.nodes = {silent, node("n1")}}});
  EXPECT_FALSE(ask(fence)[0]) << "what runs there goes on";
  silent.silent = true;
  step({ClusterSeen{.nodes = {silent, node("n1")}}});
  EXPECT_TRUE(ask(fence)[0]);
  // An operator's own drain comes first; the daemon may have been started since.
  ASSERT_TRUE(ask(controller::Drain{.node = fence.node, .reason = "off"})[0]);
  CommitCycle again(site, log, engine);
  ASSERT_TRUE(again.fold(log.safe));
  EXPECT_TRUE(again.controller().check(fence));
  ASSERT_TRUE(again.compact());
  CommitCycle third(site, log, engine);
  ASSERT_TRUE(third.fold(log.safe));
  EXPECT_TRUE(third.controller().check(fence)) << "a snapshot has it, too";
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_FALSE(ask(fence)[0]) << "it is back";
}

TEST_F(NodesSeen, AFenceIsRepeatedUntilTheNodeAnswers) {
  const NodeId n0 = *cluster().find_node("n0");
  SeenNode silent = node("n0", 2, SeenNodeState::Drained);
  silent.silent = true;
  step({ClusterSeen{.nodes = {silent, node("n1")}}});
  ASSERT_TRUE(ask(controller::Fence{.node = n0})[0]);
  const TimeNs fenced_ns = now;
  const auto repeated = [&](CommitCycle& each) {
    engine.fenced.clear();
    each.resume();
    return engine.fenced.size() == 1 && engine.fenced_ns == fenced_ns;
  };
  EXPECT_TRUE(repeated(cycle));
  CommitCycle again(site, log, engine);
  ASSERT_TRUE(again.fold(log.safe));
  EXPECT_TRUE(repeated(again)) << "a daemon that starts knows it";
  ASSERT_TRUE(again.compact());
  CommitCycle third(site, log, engine);
  ASSERT_TRUE(third.fold(log.safe));
  EXPECT_TRUE(repeated(third)) << "a snapshot has it, too";
  // Its pods are being removed: it is down, no longer silent.
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Down), node("n1")}}});
  EXPECT_TRUE(repeated(cycle));
  EXPECT_EQ(replay_problem(), "");
  step({ClusterSeen{.nodes = {node("n0"), node("n1")}}});
  EXPECT_FALSE(repeated(cycle)) << "it is back";
  step({ClusterSeen{.nodes = {node("n0", 2, SeenNodeState::Down), node("n1")}}});
  EXPECT_FALSE(repeated(cycle)) << "nobody vouched for this loss";
}

TEST_F(NodesSeen, AListThatIsNoClusterOnlyChangesStates) {
  const LaunchOrder order = run(1);
  step({ClusterSeen{}});
  EXPECT_THAT(engine.stops.size(), 1U);
  step({ClusterSeen{.nodes = {node("n0"), node("n0"), node("", 3), node("n1"), node("cpu", 0),
                              node("huge", 256)}}});
  EXPECT_THAT(names(), ElementsAre("n0", "n1"));
  std::vector<SeenNode> tangled = {node("n0"), node("n1"), node("n2", 4)};
  tangled[0].rack = "r0";
  tangled[0].zone = "z0";
  tangled[1].rack = "r0";
  tangled[1].zone = "z1";
  tangled[2].islands = 3;
  step({ClusterSeen{.nodes = tangled}});
  EXPECT_EQ(names().size(), 3U);
  step({Report{.kind = ReportKind::Lost, .run = order.run}});
  EXPECT_EQ(book().runs.size(), 1U) << "it runs again";
}

TEST_F(NodesSeen, ReservationsAndGpusLeftOutFollow) {
  controller::Reserve reserve{.num_nodes = 1, .by = kOperator};
  reserve.plan.start_ns = now + 1'000 * kSecond;
  reserve.plan.end_ns = now + 2'000 * kSecond;
  reserve.plan.nodes = {NodeId(1U)};
  ASSERT_TRUE(ask(reserve)[0]);
  step({waiting("8", 1)});
  Report declined{.kind = ReportKind::Declined, .run = engine.launches.at(0).run};
  declined.parts = engine.launches[0].parts;
  step({declined});
  const NodePart left_out = declined.parts.front();
  step({ClusterSeen{.nodes = {node("n1"), node("m", 4), node("n0")}}});
  EXPECT_THAT(book().reservations.begin()->second.plan.nodes, ElementsAre(NodeId(0U)));
  EXPECT_FALSE(cycle.controller().core().state().resources().free().is_free(
      gpu(left_out.node, static_cast<uint32_t>(left_out.gpus[0]))));
  EXPECT_EQ(free_gpus(), 6);
  now += site.decline_hold_ns;
  step();
  EXPECT_EQ(free_gpus(), 7);
}

/// Snapshots of earlier releases name no nodes: the cluster is the configured one.
TEST_F(NodesSeen, ASnapshotNamesTheNodesOnlyIfTheEngineDid) {
  (void)run(1);
  EXPECT_TRUE(cycle.compact());
  EXPECT_EQ(log.safe.snapshot.find("node_list"), std::string::npos);
  step({ClusterSeen{.nodes = {node("n0"), node("n1"), node("n2")}}});
  EXPECT_TRUE(cycle.compact());
  EXPECT_NE(log.safe.snapshot.find("node_list"), std::string::npos);
}

}  // namespace
}  // namespace goban::live::loop
