#include "live/engine/kubernetes/node_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Rules kRules{.mode = Mode::All};

/// Two nodes with four GPUs each, and pods of Goban's.
struct Site {
  Objects objects{};

  Site() {
    for (const char* name : {"n1", "n2"}) {
      Node node;
      node.meta = {.name = name, .uid = name, .labels = {{"goban.dev/managed", "true"}}};
      node.seen = {.name = name, .num_gpus = 4};
      node.is_ready = true;
      objects.nodes["/" + node.meta.name] = node;
    }
  }
  Node& node(const std::string& name) { return objects.nodes.at("/" + name); }
  Pod& pod(const std::string& name, const std::string& node_name = "") {
    Pod pod;
    pod.meta = {.space = "ml", .name = name, .uid = "uid-" + name};
    pod.scheduler = "goban";
    pod.gpus = 1;
    pod.node = node_name;
    if (!node_name.empty()) {
      pod.phase = Phase::Running;
      pod.meta.notes = {{std::string(kGpusNote), "0"}, {std::string(kRunNote), "goban:1.5.1"}};
    }
    return objects.pods[pod.meta.key()] = pod;
  }
  void silence(const std::string& name) {
    node(name).is_ready = false;
    node(name).seen.state = SeenNodeState::Down;
    node(name).seen.reason = "not ready";
  }
  [[nodiscard]] cluster::Picture picture() const {
    return view_of(objects, gangs_of(objects, kRules), kRules, {}, {}).picture;
  }
  [[nodiscard]] SeenNode seen(const std::string& name) const {
    for (const SeenNode& each : picture().cluster.nodes) {
      if (each.name == name) return each;
    }
    return {};
  }
  [[nodiscard]] JobSeen job(const std::string& pod_name) const {
    return picture().jobs.at("ml/" + pod_name + "/uid-" + pod_name);
  }
};

TEST(KubernetesNodeList, ASilentNodeIsDownWhenItsPodsAreGone) {
  Site site;
  Pod& first = site.pod("a", "n1");
  Pod& second = site.pod("b", "n1");
  site.silence("n1");
  site.silence("n2");
  EXPECT_EQ(site.seen("n2").state, SeenNodeState::Down) << "nothing of ours is there";
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained) << "what runs there goes on";
  EXPECT_EQ(site.seen("n1").reason, "not ready");
  first.meta.deleting = second.meta.deleting = true;
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained) << "nobody knows whether they run";
  EXPECT_THAT(site.seen("n1").reason, HasSubstr("being deleted"));
  EXPECT_TRUE(site.seen("n1").silent) << "it can be fenced";
  EXPECT_EQ(left_on(site.objects, "n1", 0, kRules).size(), 2U);
  first.phase = Phase::Failed;
  second.scheduler = "default-scheduler";
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Down) << "pods of others are no runs";
}

TEST(KubernetesNodeList, ANodeThatOffersNoGpusOrIsGoneKeepsWhatRunsThere) {
  Site site;
  Pod& pod = site.pod("a", "n1");
  for (const char* name : {"n1", "n2"}) site.node(name).seen.num_gpus = 0;
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained);
  EXPECT_EQ(site.seen("n1").reason, "offers 0 GPUs of 1, and some are held");
  EXPECT_EQ(site.seen("n1").num_gpus, 1);
  EXPECT_EQ(site.seen("n2").state, SeenNodeState::Up) << "nothing of ours is there";
  site.objects.nodes.erase("/n1");
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained);
  EXPECT_TRUE(site.seen("n1").silent) << "it can be fenced";
  EXPECT_THAT(site.seen("n1").reason, HasSubstr("object is gone"));
  EXPECT_EQ(site.seen("n1").num_gpus, 1) << "a daemon that never saw it learns of these";
  pod.meta.notes[std::string(kGpusNote)] = "3";
  EXPECT_EQ(site.seen("n1").num_gpus, 4);
  EXPECT_THAT(site.job("a").parts.front().gpus, ElementsAre(3));
  const auto gangs = gangs_of(site.objects, kRules);
  EXPECT_TRUE(view_of(site.objects, gangs, kRules, {}, {}).stands.begin()->second.on_silent_node);
  site.objects.pods.clear();
  EXPECT_EQ(site.picture().cluster.nodes.size(), 1U);
}

TEST(KubernetesNodeList, ANodeThatOffersLessThanARunHoldsKeepsIt) {
  Site site;
  site.pod("a", "n1").meta.notes[std::string(kGpusNote)] = "3";
  site.node("n1").seen.num_gpus = 2;
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained);
  EXPECT_EQ(site.seen("n1").reason, "offers 2 GPUs of 4, and some are held");
  const cluster::Picture told = site.picture();
  site.objects.pods.clear();  // its last pod there has ended, and its run has not
  const View after = view_of(site.objects, {}, kRules, told, {});
  EXPECT_EQ(after.picture.cluster.nodes.front().num_gpus, 4);
}

TEST(KubernetesNodeList, AFenceHoldsForTheLossThatAnOperatorSaw) {
  Site site;
  (void)site.pod("a", "n1");
  site.silence("n1");
  const base::TimeNs fenced_ns = 1'000 * base::kSecond;
  const auto num_left = [&] { return left_on(site.objects, "n1", fenced_ns, kRules).size(); };
  site.node("n1").lost_ns = fenced_ns - base::kMinute;
  EXPECT_EQ(num_left(), 1U);
  site.node("n1").lost_ns = fenced_ns + base::kSecond;
  EXPECT_EQ(num_left(), 1U) << "clocks differ";
  site.node("n1").lost_ns = fenced_ns + 15 * base::kSecond;
  EXPECT_EQ(num_left(), 0U) << "it was back in between";
}

TEST(KubernetesNodeList, ANodeWhoseLabelIsRemovedStaysUntilItsPodsHaveEnded) {
  Site site;
  Pod& pod = site.pod("a", "n1");
  site.node("n1").meta.labels.clear();
  EXPECT_EQ(site.seen("n1").state, SeenNodeState::Drained);
  EXPECT_EQ(site.seen("n1").reason, "its label goban.dev/managed was removed");
  EXPECT_EQ(site.job("a").state, SeenState::Running);
  pod.phase = Phase::Succeeded;
  EXPECT_EQ(site.picture().cluster.nodes.size(), 1U);
}

TEST(KubernetesNodeList, AJobThatMayRunOnNoNodeIsHeld) {
  Site site;
  site.pod("a").where = {{.key = "no-such", .values = {"x"}}};
  EXPECT_EQ(site.job("a").blocked,
            "no managed node meets its node selector, affinity or tolerations: no-such=x");
  EXPECT_THAT(site.seen("n1").partitions, IsEmpty());
  site.node("n2").meta.labels["no-such"] = "x";
  EXPECT_EQ(site.job("a").blocked, "");
  // Only one of a gang, also one without GPUs.
  for (const char* name : {"g1", "g2"}) {
    site.pod(name).meta.labels = {{std::string(kGangLabel), "g"},
                                  {std::string(kGangSizeLabel), "2"}};
  }
  Pod& launcher = site.objects.pods.at("ml/g2");
  launcher.gpus = 0;
  EXPECT_EQ(site.picture().jobs.at("ml/g").blocked, "");
  launcher.where = {{.key = "zone", .is = Requirement::Is::NotIn, .values = {"a", "b"}},
                    {.key = "cpu", .is = Requirement::Is::Exists}};
  EXPECT_THAT(site.picture().jobs.at("ml/g").blocked, HasSubstr(": zone!=a|b, cpu"));
  // A node without GPUs is no place for a pod that needs some.
  site.node("n2").seen.num_gpus = 0;
  EXPECT_THAT(site.job("a").blocked, HasSubstr("no-such=x"));
}

TEST(KubernetesNodeList, WhatOnlyDriversServeIsSaid) {
  Site site;
  site.pod("a").claims = {"gpus"};
  EXPECT_EQ(site.job("a").blocked, "no managed node has GPUs of a DRA driver");
}

TEST(KubernetesNodeList, TaintsThatKeepPodsOffEveryNodeHoldThem) {
  Site site;
  for (const char* name : {"n1", "n2"}) {
    site.node(name).taints = {{.key = "node.kubernetes.io/disk-pressure", .effect = "NoSchedule"}};
  }
  site.pod("a");
  EXPECT_THAT(site.job("a").blocked, HasSubstr("tolerations"));
}

TEST(KubernetesNodeList, OfTooManySelectorsTheJobsThatWaitLongestComeFirst) {
  Site site;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    site.node("n1").meta.labels["k" + number] = "v";
    Pod& pod = site.pod("p" + number);
    pod.where = {{.key = "k" + number, .values = {"v"}}};
    pod.meta.created_ns = (100 - i) * base::kSecond;
  }
  EXPECT_EQ(site.job("p39").blocked, "");
  EXPECT_EQ(site.job("p8").blocked, "");
  EXPECT_THAT(site.job("p7").blocked, HasSubstr("32 other node selectors"));
  EXPECT_EQ(site.job("p7").spec.partition, "ml");
  EXPECT_EQ(site.seen("n1").partitions.size(), 32U);
  // One that runs needs its partition no more.
  Pod& started = site.objects.pods.at("ml/p39");
  started.node = "n1";
  started.phase = Phase::Running;
  started.meta.notes = {{std::string(kRunNote), "goban:1.5.1"}};
  EXPECT_EQ(site.job("p7").blocked, "");
  EXPECT_THAT(site.job("p6").blocked, HasSubstr("32 other"));
  site.objects.pods.at("ml/p0").priority = 5;
  EXPECT_EQ(site.job("p0").blocked, "") << "the order is that of the queue";
}

TEST(KubernetesNodeList, PodsThatNeverRanWereRefused) {
  Pod pod;
  for (const char* reason : {"OutOfcpu", "Evicted", "NodeAffinity", "NodeShutdown", "Preempting",
                             "UnexpectedAdmissionError"}) {
    pod.reason = reason;
    pod.began = false;
    EXPECT_TRUE(was_refused(pod)) << reason;
    pod.began = true;
    EXPECT_FALSE(was_refused(pod)) << reason;
  }
  for (const char* reason : {"", "Terminated", "NodeLost", "DeadlineExceeded"}) {
    pod = {.reason = reason};
    EXPECT_FALSE(was_refused(pod)) << reason;
  }
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
