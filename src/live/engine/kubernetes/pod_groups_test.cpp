#include "live/engine/kubernetes/pod_groups.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/gang_stand.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using cluster::Stand;
using nlohmann::json;

const Rules kRules{.mode = Mode::All};
constexpr const char* kId = "ml/nginx/pod-group";

/// As scheduler-plugins documents it.
constexpr const char* kPodGroup = R"({"apiVersion": "scheduling.x-k8s.io/v1alpha1",
  "kind": "PodGroup", "metadata": {"namespace": "ml", "name": "nginx", "uid": "g1"},
  "spec": {"scheduleTimeoutSeconds": 10, "minMember": 3}})";

struct Members {
  Objects objects{};

  Pod& pod(const std::string& name, TimeNs created_s, const std::string& job = "") {
    Pod pod;
    pod.meta = {.space = "ml", .name = name, .uid = "uid-" + name, .version = "7"};
    pod.meta.created_ns = created_s * base::kSecond;
    pod.meta.labels = {{std::string(kPodGroupLabel), "nginx"}};
    pod.scheduler = "goban";
    pod.gpus = 1;
    pod.owner_kind = job.empty() ? "ReplicaSet" : "Job";
    pod.owner_name = job.empty() ? "r" : job;
    pod.owner_uid = "uid-" + pod.owner_name;
    return objects.pods[pod.meta.key()] = pod;
  }
  void bind(const std::string& name) {
    Pod& pod = objects.pods.at("ml/" + name);
    pod.node = "n1";
    pod.phase = Phase::Running;
    pod.meta.notes = {{std::string(kRunNote), "goban:1.5.1"}};
  }
  Work& job(const std::string& name, int32_t size) {
    Work work;
    work.meta = {.space = "ml", .name = name, .uid = "uid-" + name};
    work.parallelism = work.completions = size;
    work.pod.scheduler = "goban";
    work.pod.meta.labels = {{std::string(kPodGroupLabel), "nginx"}};
    return objects.works[work.meta.key()] = work;
  }
  void group(int32_t least = 3) {
    PodGroup made = read_pod_group(json::parse(kPodGroup)).value();
    made.least = least;
    objects.pod_groups[made.meta.key()] = made;
  }
  [[nodiscard]] View view(const std::map<std::string, RunId>& started = {}) const {
    const KnownRuns runs{.latest = started, .started = started};
    return view_of(objects, gangs_of(objects, kRules, runs), kRules, {}, started);
  }
  [[nodiscard]] JobSeen seen() const { return view().picture.jobs.at(kId); }
};

TEST(KubernetesPodGroups, AnObjectIsRead) {
  const PodGroup group = read_pod_group(json::parse(kPodGroup)).value();
  EXPECT_EQ(group.meta.key(), "ml/nginx");
  EXPECT_EQ(group.least, 3);
  EXPECT_FALSE(read_pod_group(json::parse("[]")));
  EXPECT_EQ(
      read_pod_group(
          json::parse(R"({"metadata": {"name": "x", "uid": "y"}, "spec": {"minMember": -7}})"))
          .value()
          .least,
      1);
}

TEST(KubernetesPodGroups, ItsPodsStartWhenThereAreEnough) {
  Members members;
  members.pod("a", 1);
  members.pod("b", 1);
  EXPECT_EQ(members.seen().blocked, "its PodGroup nginx is not known");
  members.group();
  EXPECT_EQ(members.seen().blocked, "2 of 3 pods exist");
  members.pod("c", 2);
  const JobSeen seen = members.seen();
  EXPECT_EQ(seen.blocked, "");
  EXPECT_EQ(seen.spec.name, "nginx");
  EXPECT_EQ(seen.spec.num_gpus, 3);
  EXPECT_EQ(members.view().picture.jobs.size(), 1U);
}

TEST(KubernetesPodGroups, LabelsAloneSayItToo) {
  Members members;
  for (const char* name : {"a", "b"}) {
    members.pod(name, 1).meta.labels = {{std::string(kGroupNameLabel), "nginx"},
                                        {std::string(kGroupSizeLabel), "2"}};
  }
  EXPECT_EQ(members.seen().blocked, "");
  EXPECT_EQ(members.seen().spec.num_gpus, 2);
  for (auto& [key, pod] : members.objects.pods)
    pod.meta.labels[std::string(kGroupSizeLabel)] = "many";
  EXPECT_EQ(members.seen().blocked,
            "its pods' label pod-group.scheduling.sigs.k8s.io/min-available is not a whole number "
            "from 1 to 100000");
}

TEST(KubernetesPodGroups, MoreThanItNeedsStartTogetherAndALatePodWaits) {
  Members members;
  members.group(2);
  for (const char* name : {"a", "b", "c"}) members.pod(name, 5);
  EXPECT_EQ(members.seen().spec.num_gpus, 3);
  members.bind("a");
  members.bind("b");
  cluster::JobStand stand = members.view().stands.at(kId);
  EXPECT_TRUE(stand.hopeless) << "whole or not at all, although two would be enough";
  members.bind("c");
  members.pod("late", 9);
  stand = members.view().stands.at(kId);
  EXPECT_EQ(stand.stand, Stand::Running);
  EXPECT_EQ(stand.parts.size(), 1U);
  for (const char* name : {"a", "b", "c"})
    members.objects.pods.at(std::string("ml/") + name).phase = Phase::Succeeded;
  EXPECT_EQ(members.seen().blocked, "1 of 2 pods exist") << "it is the next job";
}

TEST(KubernetesPodGroups, LatePodsAreTheNextJob) {
  Members members;
  members.group(2);
  const RunId run{JobId(5U), 1};
  for (const char* name : {"a", "b"}) {
    members.pod(name, 5).owner_uid = "";
    members.bind(name);
  }
  for (const char* name : {"c", "d"}) members.pod(name, 9).owner_uid = "";
  for (const char* name : {"a", "b"})
    members.objects.pods.at(std::string("ml/") + name).phase = Phase::Succeeded;
  // What ended has completed: nothing of it waits again.
  const View ended = members.view({{kId, run}});
  EXPECT_EQ(ended.stands.at(kId).stand, Stand::Ended);
  EXPECT_TRUE(ended.stands.at(kId).ran);
  EXPECT_FALSE(ended.picture.jobs.contains(kId));
  EXPECT_EQ(ended.picture.ended.at(kId).how, GoneHow::Completed);
  // Then the others are a job, by themselves.
  EXPECT_EQ(members.seen().blocked, "");
  EXPECT_EQ(members.seen().spec.num_gpus, 2);
  members.objects.pods.at("ml/a").phase = Phase::Failed;
  members.objects.pods.at("ml/a").exit_code = 3;
  for (const char* name : {"c", "d"}) {
    members.bind(name);
    members.objects.pods.at(std::string("ml/") + name).meta.notes = {
        {std::string(kRunNote), "goban:1.6.1"}};
  }
  const RunId next{JobId(6U), 1};
  EXPECT_EQ(members.view({{kId, next}}).stands.at(kId).stand, Stand::Running);
  for (const char* name : {"c", "d"})
    members.objects.pods.at(std::string("ml/") + name).phase = Phase::Succeeded;
  EXPECT_EQ(members.view({{kId, next}}).stands.at(kId).exit_code, 0) << "not of the one before";
}

TEST(KubernetesPodGroups, JobsOfALaterBatchAreTheNextJobAndOthersAreNot) {
  Members members;
  members.group(2);
  members.job("j1", 1).meta.created_ns = 1 * base::kSecond;
  members.job("j2", 1).meta.created_ns = 5 * base::kSecond;
  Pod& first = members.pod("p1", 1, "j1");
  members.bind("p1");
  first.bound_ns = 7 * base::kSecond;
  first.phase = Phase::Succeeded;
  const RunId run{JobId(5U), 1};
  members.pod("again", 20, "j2");  // j2 was preempted
  EXPECT_EQ(members.view({{kId, run}}).stands.at(kId).stand, Stand::Held) << "it goes on";
  members.objects.pods.erase("ml/again");
  members.job("j3", 1).meta.created_ns = 9 * base::kSecond;
  members.pod("p3", 9, "j3");
  EXPECT_EQ(members.view({{kId, run}}).stands.at(kId).stand, Stand::Ended);
  first.meta.deleting = true;
  EXPECT_EQ(members.view({{kId, run}}).stands.at(kId).stand, Stand::Held)
      << "it was stopped: its Job makes another";
}

TEST(KubernetesPodGroups, LatePodsOfALabelledGangAreTheNextJob) {
  Members members;
  const auto labelled = [&](const std::string& name, TimeNs created_s) {
    Pod& pod = members.pod(name, created_s);
    pod.owner_kind = pod.owner_name = pod.owner_uid = "";
    pod.meta.labels = {{std::string(kGangLabel), "g"}, {std::string(kGangSizeLabel), "1"}};
  };
  labelled("a", 1);
  members.bind("a");
  labelled("late", 9);
  EXPECT_EQ(members.view().stands.at("ml/g").stand, Stand::Running) << "whole without it";
  members.objects.pods.at("ml/a").phase = Phase::Succeeded;
  const RunId run{JobId(5U), 1};
  EXPECT_EQ(members.view({{"ml/g", run}}).stands.at("ml/g").stand, Stand::Ended);
  EXPECT_EQ(members.view().picture.jobs.at("ml/g").blocked, "");
}

TEST(KubernetesPodGroups, AJobWithAllItsPodsIsTheGang) {
  Members members;
  members.group(2);
  members.job("j", 2);
  members.pod("j-0", 1, "j");
  members.pod("j-1", 1, "j");
  const View view = members.view();
  ASSERT_EQ(view.picture.jobs.size(), 1U);
  EXPECT_EQ(view.picture.jobs.begin()->first, "ml/j/uid-j") << "it can be suspended";
  EXPECT_EQ(view.picture.jobs.begin()->second.spec.num_gpus, 2);
}

TEST(KubernetesPodGroups, SeveralJobsAreOneGang) {
  Members members;
  members.group(3);
  members.job("driver", 1);
  members.job("workers", 2);
  members.pod("driver-0", 1, "driver");
  members.pod("workers-0", 1, "workers");
  EXPECT_EQ(members.seen().blocked, "2 of 3 pods exist");
  members.pod("workers-1", 1, "workers");
  EXPECT_EQ(members.view().picture.jobs.size(), 1U);
  EXPECT_EQ(members.seen().spec.num_gpus, 3);
  for (const char* name : {"driver-0", "workers-0", "workers-1"}) members.bind(name);
  const RunId run{JobId(5U), 1};
  EXPECT_EQ(members.view({{kId, run}}).stands.at(kId).stand, Stand::Running);
  members.objects.pod_groups.clear();
  members.objects.works.clear();
  EXPECT_EQ(members.view({{kId, run}}).stands.at(kId).stand, Stand::Running)
      << "also when its objects are gone";
  for (auto& [key, pod] : members.objects.pods) pod.phase = Phase::Succeeded;
  const cluster::JobStand over = members.view({{kId, run}}).stands.at(kId);
  EXPECT_EQ(over.stand, Stand::Ended);
  EXPECT_FALSE(over.cancelled);
}

TEST(KubernetesPodGroups, AGangThatLostAPodIsTakenBackIfItsPodsComeAgain) {
  Members members;
  members.group(3);
  for (const char* name : {"a", "b", "c"}) {
    members.pod(name, 1);
    members.bind(name);
  }
  const auto gang = [&] { return gangs_of(members.objects, kRules).at(kId); };
  EXPECT_FALSE(lacks_pods(gang()));
  members.objects.pods.erase("ml/b");
  EXPECT_FALSE(lacks_pods(gang())) << "nothing would come in its place";
  members.pod("again", 9);
  EXPECT_TRUE(lacks_pods(gang()));
  members.objects.pods.at("ml/a").owner_kind = "";
  EXPECT_FALSE(lacks_pods(gang())) << "this one would end for ever";
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
