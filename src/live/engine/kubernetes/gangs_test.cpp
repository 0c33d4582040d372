#include "live/engine/kubernetes/gangs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"
#include "live/engine/kubernetes/test_gang_world.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using cluster::Stand;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(KubernetesGangs, AGangWaitsForItsLastPod) {
  World world;
  world.job("train", 2);
  world.pod("a", 2, "train");
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked, "1 of 2 pods exist");
  world.pod("b", 2, "train");
  const View view = world.view();
  const JobSeen& seen = view.picture.jobs.at(kGang);
  EXPECT_EQ(seen.blocked, "");
  EXPECT_TRUE(seen.managed);
  EXPECT_EQ(seen.spec.num_gpus, 4);
  EXPECT_EQ(seen.spec.instances, 2);
  EXPECT_EQ(seen.spec.owner.realm, "kubernetes");
  EXPECT_EQ(seen.spec.owner.user, "ml");
  EXPECT_EQ(view.stands.at(kGang).stand, Stand::Held);
  world.objects.pods.at("ml/b").unclear = "resource claims";
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked,
            "Goban does not carry out resource claims");
}

TEST(KubernetesGangs, AnnotationsNameWhatIsStaged) {
  World world;
  world.job("train", 1);
  world.pod("a", 2, "train");
  Meta& meta = world.objects.pods.at("ml/a").meta;
  meta.staging = {{"staging.goban.dev/in", "/lustre/images\n/lustre/words"},
                  {"staging.goban.dev/out", "results:/lustre/out"},
                  {"staging.goban.dev/out-on", "always"}};
  const View view = world.view();
  const JobSeen& seen = view.picture.jobs.at(kGang);
  EXPECT_THAT(seen.spec.stage_in, ElementsAre("/lustre/images", "/lustre/words"));
  ASSERT_EQ(seen.spec.stage_out.size(), 1U);
  EXPECT_TRUE(seen.spec.stage_out_always);
  EXPECT_EQ(seen.blocked, "");
  meta.staging = {{"staging.goban.dev/in", "images"}};
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked,
            "its annotations cannot be read: the path of stage-in is not absolute");
}

TEST(KubernetesGangs, EachPodIsAPart) {
  World world;
  world.job("train", 3);
  for (const char* name : {"a", "b", "c"}) world.pod(name, 1, "train");
  const View view = world.view();
  EXPECT_EQ(view.picture.jobs.at(kGang).spec.instances, 3);
  EXPECT_EQ(view.picture.jobs.at(kGang).spec.num_gpus, 3);
}

TEST(KubernetesGangs, BindingsFollowTheIndices) {
  World world;
  world.job("train", 3);
  for (const char* name : {"a", "b", "c"}) world.pod(name, 2, "train");
  const auto gangs = gangs_of(world.objects, kAll);
  const std::vector<NodePart> parts{{.node = "n2", .gpus = {1, 3}},
                                    {.node = "n1", .gpus = {0, 1, 2, 3}}};
  const auto bindings = bindings_of(gangs.at(kGang), parts).value();
  ASSERT_EQ(bindings.size(), 3U);
  EXPECT_EQ(bindings[0].node, "n2");
  EXPECT_THAT(bindings[0].gpus, ElementsAre(1, 3));
  EXPECT_THAT(bindings[2].gpus, ElementsAre(2, 3));
  const json body = json::parse(binding_body(bindings[0], "7", {2, RunId{JobId(5U), 1}}));
  EXPECT_EQ(body["metadata"]["uid"], "uid-a");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(body["metadata"]["annotations"]["goban.dev/gpus"], "1,3");
  EXPECT_EQ(body["metadata"]["annotations"]["goban.dev/run"], "goban:2.5.1");
  EXPECT_EQ(body["target"]["name"], "n2");
  const std::vector<NodePart> odd{{.node = "n1", .gpus = {0, 1, 2}},
                                  {.node = "n2", .gpus = {0, 1, 2}}};
  EXPECT_THAT(bindings_of(gangs.at(kGang), odd).error().message, HasSubstr("cannot be divided"));
  EXPECT_FALSE(bindings_of(gangs.at(kGang), {}));
}

TEST(KubernetesGangs, RunsWhenAllPodsRun) {
  World world;
  world.job("train", 2);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1");
  World::bind(world.pod("b", 2, "train"), "n1", "2,3", 1, Phase::Pending);
  EXPECT_EQ(world.view().stands.at(kGang).stand, Stand::Released);
  EXPECT_FALSE(world.view().stands.at(kGang).hopeless);
  world.objects.pods.at("ml/b").phase = Phase::Running;
  const View view = world.view();
  EXPECT_EQ(view.stands.at(kGang).stand, Stand::Running);
  EXPECT_EQ(view.stands.at(kGang).run, (RunId{JobId(5U), 1}));
  ASSERT_EQ(view.picture.jobs.at(kGang).parts.size(), 1U);
  EXPECT_THAT(view.picture.jobs.at(kGang).parts[0].gpus, ElementsAre(0, 1, 2, 3));
}

TEST(KubernetesGangs, InPartsItIsTakenBackUnlessItRan) {
  World world;
  world.job("train", 2);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1");
  world.pod("b", 2, "train");
  const View view = world.view();
  EXPECT_EQ(view.stands.at(kGang).stand, Stand::Released);
  EXPECT_TRUE(view.stands.at(kGang).hopeless);
  // A run that lost a pod holds what it has until its last pod is gone.
  const View ran = world.view(kAll, {}, {{kGang, {JobId(5U), 1}}});
  EXPECT_EQ(ran.stands.at(kGang).stand, Stand::Running);
}

/// The kubelet of a node did not take a pod of the first run.
void refuse(Pod& pod, const std::string& node, const std::string& gpus, const char* reason) {
  World::bind(pod, node, gpus, 1, Phase::Failed);
  pod.reason = reason;
}

TEST(KubernetesGangs, ARefusalOfTheKubeletIsNoFailure) {
  World world;
  world.job("train", 2);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1");
  refuse(world.pod("b", 2, "train"), "n2", "0,1", "OutOfnvidia.com/gpu");
  world.pod("c", 2, "train");
  const auto stand = world.view().stands.at(kGang);
  EXPECT_EQ(stand.stand, Stand::Released);
  EXPECT_TRUE(stand.hopeless);
  EXPECT_THAT(stand.reason, HasSubstr("n2 refused a pod: OutOfnvidia.com/gpu"));
  EXPECT_TRUE(stand.nodes_closed) << "what n2 misses, it misses for its other GPUs, too";
  EXPECT_THAT(stand.closed_nodes, ElementsAre("n2"));
  // It stays listed, and does not stand in the way of the next run.
  World::bind(world.objects.pods.at("ml/a"), "n1", "0,1", 2);
  World::bind(world.objects.pods.at("ml/c"), "n1", "2,3", 2);
  EXPECT_EQ(world.view().stands.at(kGang).stand, Stand::Running);
  // All of its pods may have been refused, and replaced, before anybody looked.
  World quick;
  quick.job("train", 1);
  refuse(quick.pod("a", 2, "train"), "n2", "0,1", "OutOfcpu");
  quick.pod("b", 2, "train");
  const auto held = quick.view().stands.at(kGang);
  EXPECT_EQ(held.stand, Stand::Held);
  EXPECT_EQ(held.run, (RunId{JobId(5U), 1}));
  EXPECT_THAT(held.closed_nodes, ElementsAre("n2"));
  // A pod without a controller that was refused has not run.
  World single;
  refuse(single.pod("p", 1), "n1", "0", "OutOfcpu");
  EXPECT_FALSE(single.view().stands.at("ml/p/uid-p").ran);
}

TEST(KubernetesGangs, ARefusalThatEndedAJobIsNamed) {
  World world;
  Work& work = world.job("train", 1);
  refuse(world.pod("a", 2, "train"), "n2", "0,1", "OutOfcpu");
  work.failed = true;  // backoffLimit: 0
  work.reason = "BackoffLimitExceeded";
  const auto detail = [&] { return world.view().picture.ended.at(kGang).detail; };
  EXPECT_EQ(detail(), "BackoffLimitExceeded: the kubelet of n2 refused a pod: OutOfcpu");
  Pod& second = world.pod("b", 2, "train");
  World::bind(second, "n1", "0,1", 2, Phase::Failed);
  second.exit_code = 3;
  EXPECT_EQ(detail(), "BackoffLimitExceeded") << "its program failed, too";
  second.phase = Phase::Succeeded;
  work.failed = false;
  work.complete = true;
  work.reason.clear();
  EXPECT_EQ(detail(), "");
}

TEST(KubernetesGangs, APreemptedRunThatIsBeingRemovedRunsNoMore) {
  World world;
  Work& work = world.job("train", 1);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1", 1, Phase::Failed);
  const std::map<std::string, RunId> started = {{kGang, {JobId(5U), 1}}};
  // Its Job's controller has not said yet what follows.
  EXPECT_EQ(world.view(kAll, {}, started).stands.at(kGang).stand, Stand::Running);
  // It was suspended and goes on, and its pod is not gone yet.
  world.objects.pods.at("ml/a").meta.deleting = true;
  EXPECT_EQ(world.view(kAll, {}, started).stands.at(kGang).stand, Stand::Held);
  work.suspended = true;
  EXPECT_EQ(world.view(kAll, {}, started).stands.at(kGang).stand, Stand::Held);
}

TEST(KubernetesGangs, TheEndOfAJobIsWhatItsControllerSays) {
  World world;
  Work& work = world.job("train", 1);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1", 1, Phase::Failed);
  world.objects.pods.at("ml/a").exit_code = 3;
  const std::map<std::string, RunId> started{{kGang, {JobId(5U), 1}}};
  EXPECT_EQ(world.view(kAll, {}, started).stands.at(kGang).stand, Stand::Running);
  work.failed = true;
  const View view = world.view(kAll, {}, started);
  EXPECT_EQ(view.stands.at(kGang).stand, Stand::Ended);
  EXPECT_EQ(view.stands.at(kGang).exit_code, 3);
  EXPECT_TRUE(view.stands.at(kGang).ran);
  EXPECT_EQ(view.picture.ended.at(kGang).how, GoneHow::Failed);
  work.reason = "DeadlineExceeded";
  EXPECT_EQ(world.view().picture.ended.at(kGang).how, GoneHow::TimedOut);
}

TEST(KubernetesGangs, WhatIsDeletedWasCancelledThere) {
  World world;
  world.job("train", 1);
  World::bind(world.pod("a", 2, "train"), "n1", "0,1");
  const cluster::Picture told = world.view().picture;
  const View after = World().view(kAll, told, {{kGang, {JobId(5U), 1}}});
  EXPECT_EQ(after.picture.ended.at(kGang).how, GoneHow::Cancelled);
  EXPECT_EQ(after.stands.at(kGang).stand, Stand::Ended);
  EXPECT_EQ(after.stands.at(kGang).signal, 15);
}

TEST(KubernetesGangs, ADeletedJobHoldsItsGpusUntilItsPodsAreGone) {
  World world;
  world.job("train", 2);
  for (const char* name : {"a", "b"}) World::bind(world.pod(name, 1, "train"), "n1", "0");
  const std::map<std::string, RunId> started{{kGang, {JobId(5U), 1}}};
  const cluster::Picture told = world.view(kAll, {}, started).picture;
  world.objects.works.clear();
  world.objects.pods.erase("ml/a");
  world.objects.pods.at("ml/b").meta.deleting = true;
  const View leaving = world.view(kAll, told, started);
  ASSERT_EQ(leaving.stands.size(), 1U);
  EXPECT_EQ(leaving.stands.at(kGang).stand, Stand::Running);
  EXPECT_FALSE(leaving.picture.ended.contains(kGang));
  world.objects.pods.clear();
  EXPECT_EQ(world.view(kAll, told, started).picture.ended.at(kGang).how, GoneHow::Cancelled);
}

TEST(KubernetesGangs, ADeletedJobKeepsItsNameAndSize) {
  World world;
  world.job("train", 2);
  for (const char* name : {"train-x", "train-y"}) world.pod(name, 2, "train");
  const cluster::Picture told = world.view().picture;
  world.objects.works.clear();
  world.objects.pods.erase("ml/train-y");
  const JobSeen left = world.view(kAll, told).picture.jobs.at(kGang);
  EXPECT_EQ(left.blocked, "its Job is not known");
  EXPECT_EQ(left.spec, told.jobs.at(kGang).spec);
  EXPECT_EQ(world.view().picture.jobs.at(kGang).spec.name, "train") << "not that of its pod";
}

TEST(KubernetesGangs, PodsWhoseJobIsNotKnownYetWait) {
  World world;
  world.pod("a", 2, "train");
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked, "its Job is not known");
}

TEST(KubernetesGangs, PodsOfOthersHoldGpusThatStayTheirs) {
  World world;
  Pod& mine = world.pod("mine", 2);
  World::bind(mine, "n1", "2,3");
  Pod& other = world.pod("other", 1);
  other.scheduler = "default-scheduler";
  other.node = "n1";
  const View first = world.view();
  const JobSeen& seen = first.picture.jobs.at("ml/other/uid-other");
  EXPECT_FALSE(seen.managed);
  EXPECT_THAT(seen.parts[0].gpus, ElementsAre(1));  // 2 and 3 are ours
  world.objects.pods.erase("ml/mine");
  const View second = world.view(kAll, first.picture);
  EXPECT_THAT(second.picture.jobs.at("ml/other/uid-other").parts[0].gpus, ElementsAre(1));
  // By exact index nobody knows which it has: no free GPU of the node is given away.
  const View exact = world.view({.mode = Mode::All, .indices = Indices::Exact});
  EXPECT_THAT(exact.picture.jobs.at("ml/other/uid-other").parts[0].gpus, ElementsAre(0, 1, 2, 3));
}

TEST(KubernetesGangs, AnnotationsOfOthersAreNotBelieved) {
  World world;
  Pod& other = world.pod("other", 2);
  World::bind(other, "n1", "0,1");
  other.scheduler = "default-scheduler";
  EXPECT_THAT(world.view().picture.jobs.at("ml/other/uid-other").parts[0].gpus, ElementsAre(2, 3));
}

TEST(KubernetesGangs, ModesSayWhichPodsAreOurs) {
  World world;
  world.pod("waits", 1);
  EXPECT_EQ(world.view().picture.jobs.size(), 1U);
  EXPECT_EQ(world.view({.mode = Mode::Namespaces, .namespaces = {"other"}}).picture.jobs.size(),
            0U);
  EXPECT_EQ(world.view({.mode = Mode::Namespaces, .namespaces = {"ml"}}).picture.jobs.size(), 1U);
  EXPECT_EQ(world.view({.mode = Mode::Observe}).picture.jobs.size(), 0U);
  world.objects.nodes.at("/n1").meta.labels.clear();
  EXPECT_EQ(world.view().picture.cluster.nodes.size(), 1U);
  EXPECT_EQ(world.view({.mode = Mode::Observe}).picture.cluster.nodes.size(), 2U);
}

TEST(KubernetesGangs, LabelledPodsAreAGang) {
  World world;
  for (const char* name : {"a", "b"})
    world.pod(name, 1).meta.labels = {{"goban.dev/gang", "g"}, {"goban.dev/gang-size", "2"}};
  EXPECT_EQ(world.view().picture.jobs.at("ml/g").blocked, "");
  EXPECT_EQ(world.view().picture.jobs.at("ml/g").spec.num_gpus, 2);
  EXPECT_FALSE(world.view().picture.jobs.at("ml/g").spec.requeue);  // nobody makes them again
  world.objects.pods.at("ml/a").meta.labels.erase("goban.dev/gang-size");
  EXPECT_THAT(world.view().picture.jobs.at("ml/g").blocked, HasSubstr("goban.dev/gang-size"));
}

TEST(KubernetesGangs, PodsWithoutGpusTakeOfWhatANodeHas) {
  World world;
  Pod& other = world.pod("system", 0);
  other.scheduler = "default-scheduler";
  other.node = "n1";
  other.cpu_milli = 1500;
  other.mem_bytes = 100;
  const auto nodes = world.view().picture.cluster.nodes;
  EXPECT_EQ(nodes[0].cores, 6);
  EXPECT_EQ(nodes[0].mem_bytes, int64_t{63} << 30);
  EXPECT_EQ(nodes[1].cores, 8);
  EXPECT_TRUE(world.view().picture.jobs.empty());
}

TEST(KubernetesGangs, ASuspendedJobWaits) {
  World world;
  Work& work = world.job("train", 2);
  work.suspended = true;
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked, "its Job is suspended");
  work.meta.notes[std::string(kSuspendedNote)] = "true";
  EXPECT_EQ(world.view().picture.jobs.at(kGang).blocked, "its pods are being taken back");
}

TEST(KubernetesGangs, OfTwoOnOneGpuTheYoungerIsTakenBack) {
  World world;
  for (const char* name : {"a", "b", "c"}) World::bind(world.pod(name, 2), "n1", "0,1");
  world.objects.pods.at("ml/a").start_ns = 30;
  world.objects.pods.at("ml/b").start_ns = 20;
  World::bind(world.objects.pods.at("ml/c"), "n2", "0,1");
  const Rules exact{.mode = Mode::All, .indices = Indices::Exact};
  EXPECT_THAT(doubled(gangs_of(world.objects, exact), exact), ElementsAre("ml/a/uid-a"));
  EXPECT_TRUE(doubled(gangs_of(world.objects, kAll), kAll).empty()) << "only numbers count";
  const auto gangs = gangs_of(world.objects, kAll);
  const View view = view_of(world.objects, gangs, kAll, {}, {});
  EXPECT_THAT(view.picture.jobs.at("ml/b/uid-b").parts.front().gpus, ElementsAre(0, 1));
  EXPECT_THAT(view.picture.jobs.at("ml/a/uid-a").parts.front().gpus, ElementsAre(2, 3));
}

TEST(KubernetesGangs, WhatMayShareIsLabelledAndStartsAgain) {
  using core::model::SharingRequest;
  World world;
  world.job("train", 2);
  for (const char* name : {"a", "b"}) {
    world.pod(name, 1, "train").meta.labels = {{"goban.dev/share", "true"},
                                               {"goban.dev/gpu-memory", "20Gi"}};
  }
  const Rules shared{.mode = Mode::All, .indices = Indices::Exact, .shares = true};
  const auto asked = [&](const Rules& rules) {
    return world.view(rules).picture.jobs.begin()->second.spec.training;
  };
  EXPECT_EQ(asked(shared).sharing, SharingRequest::Yes);
  EXPECT_EQ(asked(shared).gpu_mem_bytes, int64_t{20} << 30);
  EXPECT_EQ(asked(kAll).sharing, SharingRequest::No) << "off if it is not asked for";
  world.objects.pods.at("ml/b").meta.labels.clear();
  EXPECT_EQ(asked(shared).sharing, SharingRequest::No) << "all of its pods";
  // A pod that nobody makes again cannot be taken back.
  World single;
  single.pod("p", 1).meta.labels = {{"goban.dev/share", "true"}};
  EXPECT_EQ(single.view(shared).picture.jobs.begin()->second.spec.training.sharing,
            SharingRequest::No);
}

TEST(KubernetesGangs, WhatSharesByDecisionIsNotTakenBack) {
  World world;
  const Rules exact{.mode = Mode::All, .indices = Indices::Exact, .shares = true};
  int64_t at = 0;
  for (const char* name : {"a", "b", "c"}) {
    World::bind(world.pod(name, 1), "n1", "0");
    world.objects.pods.at(std::string("ml/") + name).start_ns = ++at;
  }
  world.objects.pods.at("ml/b").meta.notes[std::string(kSharesNote)] = "true";
  EXPECT_THAT(doubled(gangs_of(world.objects, exact), exact), ElementsAre("ml/c/uid-c"));
  const json body = json::parse(binding_body(
      {.pod = &world.objects.pods.at("ml/a"), .node = "n1", .gpus = {0}, .shares = true}, "7", {}));
  EXPECT_EQ(body["metadata"]["annotations"]["goban.dev/shares"], "true");
}

TEST(KubernetesGangs, WhatIsTakenBackGetsTheGraceOfTheSite) {
  World world;
  Work& work = world.job("train", 1);
  Pod& pod = world.pod("a", 2, "train");
  World::bind(pod, "n1", "0,1");
  pod.meta.deleting = true;
  pod.meta.kill_ns = 1000 * base::kSecond;
  const auto slow = [&](TimeNs wall_ns, const std::set<std::string>& evicted = {}) {
    const auto gangs = gangs_of(world.objects, kAll);
    return slow_to_end(gangs.begin()->second, evicted, wall_ns, 300 * base::kSecond).size();
  };
  EXPECT_EQ(slow(0), 0U) << "its user deletes it";
  EXPECT_EQ(slow(0, {"uid-a"}), 1U);
  work.suspended = true;
  EXPECT_EQ(slow(0), 0U) << "a quota in front suspended it";
  work.meta.notes[std::string(kSuspendedNote)] = "true";
  EXPECT_EQ(slow(0), 1U);
  EXPECT_EQ(slow(698 * base::kSecond), 1U);
  EXPECT_EQ(slow(700 * base::kSecond), 0U);
  EXPECT_EQ(json::parse(hurry_body(pod.meta, 300 * base::kSecond))["gracePeriodSeconds"], 300);
}

TEST(KubernetesGangs, PodsWithATerminalArePlacedAsOthers) {
  World world;
  world.job("shell", 2);
  for (const char* name : {"a", "b"}) {
    json object = json::parse(R"({"metadata": {"namespace": "ml", "ownerReferences": [
      {"kind": "Job", "name": "shell", "uid": "uid-shell", "controller": true}]},
      "spec": {"schedulerName": "goban", "containers": [{"stdin": true, "tty": true,
      "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}})");
    object["metadata"]["name"] = object["metadata"]["uid"] = name;
    const Pod pod = read_pod(object).value();
    world.objects.pods[pod.meta.key()] = pod;
  }
  const JobSeen seen = world.view().picture.jobs.at("ml/shell/uid-shell");
  EXPECT_EQ(seen.blocked, "");
  EXPECT_EQ(seen.spec.num_gpus, 4);
}

/// As the operators of Kubeflow and JobSet write them; shortened.
constexpr const char* kMpiJob = R"({"kind": "MPIJob", "metadata": {"namespace": "ml", "name": "mpi",
  "uid": "u1"}, "spec": {"runPolicy": {"suspend": false}, "mpiReplicaSpecs": {
  "Launcher": {"replicas": 1, "template": {}}, "Worker": {"replicas": 3, "template": {}}}},
  "status": {"conditions": [{"type": "Created", "status": "True"}]}})";
constexpr const char* kPyTorchJob = R"({"kind": "PyTorchJob", "metadata": {"namespace": "ml",
  "name": "torch", "uid": "u2"}, "spec": {"runPolicy": {"suspend": true}, "pytorchReplicaSpecs": {
  "Master": {"template": {}}, "Worker": {"replicas": 3}}},
  "status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})";
constexpr const char* kJobSet = R"({"kind": "JobSet", "metadata": {"namespace": "ml", "name": "set",
  "uid": "u3"}, "spec": {"suspend": false, "replicatedJobs": [
  {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1}}},
  {"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 4}}}]},
  "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "FailedJobs"}]}})";

TEST(KubernetesGroups, SizesAndStates) {
  const auto read = [](const char* text, GroupKind kind) {
    return read_group(json::parse(text), kind).value();
  };
  const Group mpi = read(kMpiJob, GroupKind::MpiJob2);
  EXPECT_EQ(mpi.size, 4);
  EXPECT_FALSE(mpi.suspended || mpi.complete || mpi.failed);
  const Group torch = read(kPyTorchJob, GroupKind::PyTorchJob);
  EXPECT_EQ(torch.size, 4) << "a replica of each kind if it says nothing";
  EXPECT_TRUE(torch.suspended && torch.complete);
  const Group set = read(kJobSet, GroupKind::JobSet);
  EXPECT_EQ(set.size, 9);
  EXPECT_EQ(set.reason, "FailedJobs");
  EXPECT_EQ(group_path(mpi), "/apis/kubeflow.org/v2beta1/namespaces/ml/mpijobs/mpi");
  EXPECT_EQ(json::parse(group_suspension_body(mpi, true))["spec"]["runPolicy"]["suspend"], true);
  EXPECT_EQ(json::parse(group_suspension_body(set, false))["spec"]["suspend"], false);
  EXPECT_FALSE(read_group(json::parse("[1]"), GroupKind::JobSet));
  const auto odd = read_group(json::parse(R"({"metadata": {"name": "x", "uid": "y"}, "spec":
    {"mpiReplicaSpecs": {"Worker": {"replicas": -5}, "Other": 7}}})"),
                              GroupKind::MpiJob);
  EXPECT_EQ(odd.value().size, 1);
}

TEST(KubernetesGroups, PodsOfOneObjectAreOneGang) {
  World world;
  world.objects.mpi_jobs["ml/mpi"] = *read_group(json::parse(kMpiJob), GroupKind::MpiJob);
  const auto add = [&](const std::string& name, int32_t gpus) {
    Pod& pod = world.pod(name, gpus);
    pod.owner_kind = "MPIJob";
    pod.owner_name = "mpi";
    pod.owner_uid = "u1";
    pod.meta.labels = {{std::string(kTrainingLabel), "mpi"}};
  };
  for (const char* name : {"mpi-worker-0", "mpi-worker-1", "mpi-worker-2"}) add(name, 2);
  EXPECT_EQ(world.view().picture.jobs.at("ml/mpi/u1").blocked, "3 of 4 pods exist");
  add("mpi-launcher", 0);
  const JobSeen seen = world.view().picture.jobs.at("ml/mpi/u1");
  EXPECT_EQ(seen.blocked, "");
  EXPECT_EQ(seen.spec.name, "mpi");
  EXPECT_EQ(seen.spec.num_gpus, 6);
  EXPECT_EQ(seen.spec.instances, 3);
  const auto gangs = gangs_of(world.objects, kAll);
  const std::vector<NodePart> parts{{.node = "n1", .gpus = {0, 1, 2, 3}},
                                    {.node = "n2", .gpus = {0, 1}}};
  EXPECT_EQ(bindings_of(gangs.at("ml/mpi/u1"), parts).value().size(), 4U);
  world.objects.mpi_jobs.clear();
  const auto view = world.view();
  for (const auto& [id, job] : view.picture.jobs) {
    EXPECT_EQ(job.blocked, "its MPIJob is not known") << "never in parts";
  }
  EXPECT_EQ(world.view().picture.jobs.size(), 1U);
}

TEST(KubernetesGroups, JobsOfAJobSetAreOneGang) {
  World world;
  Group set = *read_group(json::parse(kJobSet), GroupKind::JobSet);
  set.size = 3;
  set.failed = false;
  world.objects.job_sets["ml/set"] = set;
  for (const char* job : {"set-driver-0", "set-workers-0", "set-workers-1"}) {
    world.job(job, 1).meta.labels = {{std::string(kJobSetLabel), "set"}};
    world.pod(std::string(job) + "-0", 1, job).meta.labels = {{std::string(kJobSetLabel), "set"}};
  }
  EXPECT_EQ(world.view().picture.jobs.size(), 1U);
  EXPECT_EQ(world.view().picture.jobs.at("ml/set/u3").spec.num_gpus, 3);
  EXPECT_EQ(world.view().picture.jobs.at("ml/set/u3").blocked, "");
  world.objects.job_sets.at("ml/set").suspended = true;
  EXPECT_EQ(world.view().picture.jobs.at("ml/set/u3").blocked, "its JobSet is suspended");
}

TEST(KubernetesGangs, WhatMayRunOnSomeNodesHasAPartitionOfThem) {
  World world;
  world.job("train", 1);
  world.pod("a", 1, "train");
  world.pod("free", 1);
  const std::vector<std::string> none;
  for (const SeenNode& node : world.view().picture.cluster.nodes) EXPECT_EQ(node.partitions, none);
  world.objects.nodes.at("/n2").meta.labels["pool"] = "big";
  world.objects.pods.at("ml/a").where = {{.key = "pool", .values = {"big"}}};
  const cluster::Picture picture = world.view().picture;
  const std::string partition = picture.jobs.at(kGang).spec.partition;
  EXPECT_THAT(partition, testing::StartsWith("ml/selector-"));
  EXPECT_EQ(picture.jobs.at("ml/free/uid-free").spec.partition, "ml");
  EXPECT_THAT(picture.cluster.nodes[0].partitions, ElementsAre("")) << "in none, and not in all";
  EXPECT_THAT(picture.cluster.nodes[1].partitions, ElementsAre(partition));
  // More nodes, and its end, do not change the name.
  world.objects.nodes["/n3"] = world.objects.nodes.at("/n2");
  world.objects.nodes.at("/n3").meta.name = world.objects.nodes.at("/n3").seen.name = "n3";
  EXPECT_EQ(world.view().picture.jobs.at(kGang).spec.partition, partition);
  world.objects.pods.at("ml/a").phase = Phase::Succeeded;
  world.objects.works.at("ml/train").complete = true;
  EXPECT_THAT(world.view().picture.cluster.nodes[2].partitions, ElementsAre(partition));
}

TEST(KubernetesGangs, ATopologyAssignmentOfEachPodIsKept) {
  World world;
  world.job("train", 2);
  for (const char* name : {"n1", "n2"})
    world.objects.nodes.at(std::string("/") + name).meta.labels["kubernetes.io/hostname"] = name;
  for (const char* name : {"train-0", "train-1"}) world.pod(name, 1, "train");
  const auto on = [](const char* node) {
    return std::vector<Requirement>{{.key = "kubernetes.io/hostname", .values = {node}}};
  };
  world.objects.pods.at("ml/train-0").where = on("n2");
  world.objects.pods.at("ml/train-1").where = on("n1");
  EXPECT_TRUE(world.view().picture.jobs.at(kGang).spec.exclude_nodes.empty());
  const auto gangs = gangs_of(world.objects, kAll);
  const MayRun may_run = [&](const Pod& pod, const std::string& node) {
    return may_run_on(pod, world.objects.nodes.at("/" + node));
  };
  const std::vector<NodePart> parts{{.node = "n1", .gpus = {3}}, {.node = "n2", .gpus = {2}}};
  const std::vector<Binding> made = bindings_of(gangs.at(kGang), parts, may_run).value();
  for (const Binding& each : made) {
    EXPECT_EQ(each.node, each.pod->meta.name == "train-0" ? "n2" : "n1");
    EXPECT_THAT(each.gpus, ElementsAre(each.node == "n1" ? 3 : 2));
  }
  const std::vector<NodePart> one{{.node = "n1", .gpus = {2, 3}}};
  EXPECT_THAT(bindings_of(gangs.at(kGang), one, may_run).error().message, HasSubstr("train-0"));
  world.objects.pods.at("ml/train-0").where = on("n1");
  EXPECT_THAT(world.view().picture.jobs.at(kGang).spec.exclude_nodes, ElementsAre("n2"));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
