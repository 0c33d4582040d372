#include "live/engine/kubernetes/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/engine/kubernetes/watch_lines.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using nlohmann::json;
using testing::ElementsAre;

const char* const kPod = R"({
  "metadata": {"name": "train-1", "namespace": "ml", "uid": "u1", "resourceVersion": "12",
    "creationTimestamp": "2026-11-23T10:00:00Z", "labels": {"goban.dev/class": "A"},
    "annotations": {"goban.dev/gpus": "1,3", "goban.dev/run": "goban:1.2.3", "other": "x",
      "batch.kubernetes.io/job-completion-index": "1"},
    "ownerReferences": [{"kind": "Job", "name": "train", "uid": "j1", "controller": true}]},
  "spec": {"schedulerName": "goban", "nodeName": "n1", "priority": -5,
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    "initContainers": [{"resources": {"requests": {"cpu": "8"}}}],
    "containers": [{"resources": {"limits": {"nvidia.com/gpu": "2", "memory": "1Gi"},
                                  "requests": {"cpu": "1500m", "memory": "512Mi"}}},
                   {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]},
  "status": {"phase": "Running", "startTime": "2026-11-23T10:00:05Z",
    "containerStatuses": [{"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
      "finishedAt": "2026-11-23T11:00:00Z"}}}]}})";

TEST(KubernetesObjects, APod) {
  const auto pod = read_pod(json::parse(kPod));
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->meta.key(), "ml/train-1");
  EXPECT_EQ(pod->owner_uid, "j1");
  EXPECT_EQ(pod->index, 1);
  EXPECT_EQ(pod->gpus, 2);
  EXPECT_EQ(pod->cpu_milli, 8000);  // the initial container needs more than all others
  EXPECT_EQ(pod->mem_bytes, (int64_t{512} << 20) + (int64_t{1} << 30));
  EXPECT_EQ(pod->priority, -5);
  EXPECT_EQ(pod->meta.notes.size(), 2U);  // only ours
  EXPECT_EQ(pod->phase, Phase::Running);
  EXPECT_EQ(pod->signal, 9);
  EXPECT_TRUE(pod->out_of_memory);
  EXPECT_EQ(pod->end_ns - pod->start_ns, 3595 * base::kSecond);
  EXPECT_EQ(pod->unclear, "");
}

TEST(KubernetesObjects, SidecarsCount) {
  const auto gpus = [](const char* text) {
    json object = json::parse(kPod);
    object["spec"].update(json::parse(text));
    return read_pod(object)->gpus;
  };
  const std::string sidecar =
      R"({"restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": 2}}})";
  const std::string first = R"({"resources": {"limits": {"nvidia.com/gpu": 3}}})";
  const std::string two = R"("containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]})";
  const auto with = [&](const std::string& init) {
    return gpus((R"({"initContainers": [)" + init + "], " + two).c_str());
  };
  EXPECT_EQ(with(first), 3) << "before the others";
  EXPECT_EQ(with(sidecar), 4) << "beside the others";
  EXPECT_EQ(with(sidecar + "," + first), 5) << "beside what follows";
  EXPECT_EQ(with(first + "," + sidecar), 4) << "and not beside what was before";
}

TEST(KubernetesObjects, APodThatNeverRan) {
  json object = json::parse(kPod);
  EXPECT_TRUE(read_pod(object)->began);
  object["status"]["containerStatuses"] =
      json::parse(R"([{"state": {"waiting": {"reason": "ContainerCreating"}}}])");
  EXPECT_FALSE(read_pod(object)->began);
  object["status"]["containerStatuses"][0]["lastState"] = {{"terminated", {{"exitCode", 1}}}};
  EXPECT_TRUE(read_pod(object)->began);
  EXPECT_EQ(read_pod(object)->bound_ns, -1);
  object["status"]["conditions"] = json::parse(
      R"([{"type": "PodScheduled", "status": "True", "lastTransitionTime": "1970-01-01T00:00:07Z"}])");
  EXPECT_EQ(read_pod(object)->bound_ns, 7 * base::kSecond);
}

TEST(KubernetesObjects, RulesThatAreNotCarriedOutAreNamed) {
  const auto unclear = [](const char* spec) {
    json object = json::parse(kPod);
    object["spec"].update(json::parse(spec));
    return read_pod(object)->unclear;
  };
  EXPECT_EQ(unclear(R"({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]})"),
            "a required topology spread");
  EXPECT_EQ(unclear(R"({"affinity": {"podAntiAffinity":
      {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}}})"),
            "a required podAntiAffinity");
  EXPECT_EQ(unclear(R"({"affinity": {"nodeAffinity":
      {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}, {}]}}}})"),
            "a node affinity of several terms");
}

TEST(KubernetesObjects, NodesWhereAPodMayRun) {
  Pod pod = *read_pod(json::parse(kPod));
  const auto node = [](const char* labels, const char* taints) {
    json object = {{"metadata", {{"name", "n1"}, {"uid", "u"}}}};
    object["metadata"]["labels"] = json::parse(labels);
    object["spec"]["taints"] = json::parse(taints);
    return *read_node(object);
  };
  EXPECT_FALSE(may_run_on(pod, node("{}", "[]")));
  EXPECT_TRUE(may_run_on(pod, node(R"({"disk": "ssd"})", "[]")));
  const char* const tolerated = R"([{"key": "gpu", "effect": "NoSchedule"}])";
  const char* const evicts = R"([{"key": "gpu", "effect": "NoExecute"}])";
  EXPECT_TRUE(may_run_on(pod, node(R"({"disk": "ssd"})", tolerated)));
  EXPECT_FALSE(may_run_on(pod, node(R"({"disk": "ssd"})", evicts)));
  // Pressure is told by taints, too; that a node is not ready says its state, for all pods.
  for (const char* key : {"disk-pressure", "out-of-service", "network-unavailable"}) {
    const std::string taint =
        std::string(R"([{"key": "node.kubernetes.io/)") + key + R"(", "effect": "NoExecute"}])";
    EXPECT_FALSE(may_run_on(pod, node(R"({"disk": "ssd"})", taint.c_str()))) << key;
    pod.tolerations.push_back({.key = std::string("node.kubernetes.io/") + key, .any_value = true});
    EXPECT_TRUE(may_run_on(pod, node(R"({"disk": "ssd"})", taint.c_str()))) << key;
  }
  const char* const silent = R"([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])";
  EXPECT_TRUE(may_run_on(pod, node(R"({"disk": "ssd"})", silent)));
  pod.where = {{.key = "disk", .is = Requirement::Is::NotIn, .values = {"ssd"}}};
  EXPECT_FALSE(may_run_on(pod, node(R"({"disk": "ssd"})", "[]")));
  EXPECT_TRUE(may_run_on(pod, node("{}", "[]")));
}

TEST(KubernetesObjects, ANode) {
  const auto node = read_node(json::parse(R"({
    "metadata": {"name": "n1", "uid": "u", "labels": {"goban.dev/managed": "true",
      "nvidia.com/gpu.product": "H200", "nvidia.com/gpu.memory": "143771", "goban.dev/rack": "r1"}},
    "spec": {"unschedulable": true},
    "status": {"allocatable": {"cpu": "63500m", "memory": "512Gi", "nvidia.com/gpu": "8"},
      "conditions": [{"type": "Ready", "status": "True"}]}})"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->seen.num_gpus, 8);
  EXPECT_EQ(node->seen.gpu_model, "H200");
  EXPECT_EQ(node->seen.state, SeenNodeState::Drained);
  EXPECT_EQ(node->cpu_milli, 63500);
  EXPECT_EQ(read_node(json::parse(R"({"metadata": {"name": "n1", "uid": "u"}})"))->seen.state,
            SeenNodeState::Down);
}

TEST(KubernetesObjects, ANodeIsDrainedUntilItsTaintIsGone) {
  const auto node = read_node(json::parse(R"({"metadata": {"name": "n1", "uid": "u"},
    "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]}})"));
  EXPECT_EQ(node->seen.state, SeenNodeState::Drained);
  EXPECT_EQ(node->seen.reason, "its taint node.kubernetes.io/not-ready");
}

TEST(KubernetesObjects, ANodeThatIsBeingDeletedIsReadyAndDrained) {
  // A finalizer, as of an autoscaler, keeps the object while pods go on.
  const auto node = read_node(json::parse(R"({"metadata": {"name": "n1", "uid": "u",
      "deletionTimestamp": "2026-11-29T01:00:00Z", "finalizers": ["karpenter.sh/termination"]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]}})"));
  EXPECT_TRUE(node->is_ready);
  EXPECT_EQ(node->seen.state, SeenNodeState::Drained);
  EXPECT_THAT(node->seen.reason, testing::HasSubstr("being deleted"));
}

TEST(KubernetesObjects, WhatIsOutOfRangeIsCutOrLeftOut) {
  json object = json::parse(kPod);
  object["spec"]["priority"] = 1e30;
  object["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "999999999999";
  object["spec"]["containers"][1] = 7;
  object["metadata"]["labels"]["x"] = std::string(5000, 'x');
  object["metadata"]["annotations"]["goban.dev/gpus"] = std::string(300'000, '1');
  const auto pod = read_pod(object);
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->gpus, 1024);
  EXPECT_EQ(pod->priority, 0);
  EXPECT_EQ(pod->meta.label("x"), "");
  EXPECT_EQ(pod->meta.note(kGpusNote), "");
  object["metadata"]["name"] = std::string(300, 'n');
  EXPECT_FALSE(read_pod(object));
  EXPECT_FALSE(read_pod(json::parse("[1]")));
}

TEST(KubernetesObjects, GpuLists) {
  EXPECT_THAT(*parse_gpu_list("1,3"), ElementsAre(1, 3));
  EXPECT_THAT(*parse_gpu_list(""), ElementsAre());
  for (const char* bad : {"1,", ",1", "1,1", "-1", "1 ,2", "4096", "x"})
    EXPECT_FALSE(parse_gpu_list(bad)) << bad;
  EXPECT_EQ(gpu_list_text({1, 3}), "1,3");
}

TEST(KubernetesWatch, EventsInPieces) {
  WatchLines lines;
  const std::string text = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}})"
                           "\n"
                           R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})"
                           "\n"
                           R"({"type":"ERROR","object":{"code":410,"reason":"Expired"}})"
                           "\n";
  std::vector<WatchEvent::Kind> kinds;
  for (const char byte : text) {
    lines.add({&byte, 1});
    while (const auto event = lines.next()) kinds.push_back(event->kind);
  }
  EXPECT_THAT(kinds, ElementsAre(WatchEvent::Kind::Set, WatchEvent::Kind::Bookmark,
                                 WatchEvent::Kind::Expired));
  EXPECT_EQ(parse_watch_line("{\"type\":\"ADDED\"").kind, WatchEvent::Kind::Broken);
  EXPECT_EQ(parse_watch_line(R"({"type":"ADDED","object":{}})").kind, WatchEvent::Kind::Broken);
}

TEST(KubernetesWatch, ManagedFieldsAreLeftOut) {
  EXPECT_EQ(without_managed_fields(R"({"a":{"managedFields" : [["]"],{"x":"\"]\\"}],"b":1}})"),
            R"({"a":{"managedFields" : [],"b":1}})");
  EXPECT_EQ(without_managed_fields(R"([{"managedFields":[1]},{"managedFields":[[]]},2])"),
            R"([{"managedFields":[]},{"managedFields":[]},2])");
  for (const char* same :
       {"", R"({"x":"\"managedFields\":[1]"})", R"(["managedFields",[1]])",
        R"({"a\"managedFields":[1]})", R"({"managedFields":{"b":[1]}})", R"({"managedFields":[1)",
        R"({"managedFields")", R"({"managedFields":)", R"({"managedFields":["\)"}) {
    EXPECT_EQ(without_managed_fields(same), same);
  }
}

TEST(KubernetesWatch, ALineWithoutEndIsBroken) {
  WatchLines lines;
  const std::string piece(WatchLines::kLineMost / 4, 'x');
  std::optional<WatchEvent> event;
  for (int i = 0; i < 6 && !event; ++i) {
    lines.add(piece);
    event = lines.next();
  }
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, WatchEvent::Kind::Broken);
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
