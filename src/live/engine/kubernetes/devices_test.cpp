#include "live/engine/kubernetes/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/engine/kubernetes/device_books.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using cluster::Stand;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// As NVIDIA's driver publishes them, shortened; `v1`.
json slice_object(const std::string& node, int count) {
  json slice = {{"metadata", {{"name", node + "-x"}, {"uid", "s-" + node}}},
                {"spec",
                 {{"driver", "gpu.nvidia.com"},
                  {"nodeName", node},
                  {"pool", {{"name", node}, {"generation", 1}, {"resourceSliceCount", 1}}},
                  {"devices", json::array()}}}};
  for (int i = 0; i < count; ++i) {
    slice["spec"]["devices"].push_back(
        {{"name", "gpu-" + std::to_string(i)},
         {"attributes",
          {{"type", {{"string", "gpu"}}}, {"productName", {{"string", "NVIDIA H100"}}}}},
         {"capacity", {{"memory", {{"value", "80Gi"}}}}}});
  }
  return slice;
}

json claim_object(const std::string& name, int count) {
  return {{"metadata",
           {{"namespace", "ml"}, {"name", name}, {"uid", "c-" + name}, {"resourceVersion", "3"}}},
          {"spec",
           {{"devices",
             {{"requests", json::array({{{"name", "gpus"},
                                         {"exactly",
                                          {{"deviceClassName", "gpu.nvidia.com"},
                                           {"allocationMode", "ExactCount"},
                                           {"count", count}}}}})}}}}}};
}

/// Two nodes with four GPUs each: n1 of a device plug-in, n2 of a DRA driver.
struct DeviceWorld {
  Objects objects{.devices_api = "/apis/resource.k8s.io/v1"};
  Rules rules{.mode = Mode::All};

  DeviceWorld() {
    for (const char* name : {"n1", "n2"}) {
      Node node;
      node.meta = {.name = name, .uid = name, .labels = {{"goban.dev/managed", "true"}}};
      node.seen = {.name = name, .num_gpus = name[1] == '1' ? 4 : 0};
      node.cpu_milli = 8000;
      node.mem_bytes = int64_t{64} << 30;
      objects.nodes[node.meta.key()] = node;
    }
    add_slice(slice_object("n2", 4));
    objects.classes["/gpu.nvidia.com"].meta.name = "gpu.nvidia.com";
  }
  void add_slice(const json& object) {
    const Slice slice = read_slice(object).value();
    objects.slices["/" + slice.meta.uid] = slice;
  }
  Claim& claim(const json& object) {
    const Claim claim = read_claim(object).value();
    return objects.claims[claim.meta.key()] = claim;
  }
  Pod& pod(const std::string& name, const std::string& claim) {
    Pod pod;
    pod.meta = {.space = "ml", .name = name, .uid = "uid-" + name, .version = "7"};
    pod.scheduler = "goban";
    pod.claims = {claim};
    return objects.pods[pod.meta.key()] = pod;
  }
  static void allocate(Claim& claim, const std::string& pool, std::vector<std::string> devices,
                       std::vector<std::string> users) {
    claim.is_allocated = true;
    claim.users = std::move(users);
    for (std::string& each : devices) {
      claim.results.push_back({.request = "gpus",
                               .driver = "gpu.nvidia.com",
                               .device = {.pool = pool, .name = std::move(each)}});
    }
  }
  /// A copy, as the engine looks at it.
  [[nodiscard]] Objects settled() const {
    Objects copy = objects;
    settle_devices(copy, rules);
    return copy;
  }
  [[nodiscard]] View view() const {
    const Objects now = settled();
    return view_of(now, gangs_of(now, rules), rules, {}, {});
  }
};

TEST(KubernetesDevices, SlicesOfBothVersionsAreRead) {
  const Slice slice = read_slice(slice_object("n2", 2)).value();
  EXPECT_EQ(slice.node, "n2");
  ASSERT_EQ(slice.devices.size(), 2U);
  EXPECT_EQ(slice.devices[1].name, "gpu-1");
  EXPECT_EQ(slice.devices[1].model, "NVIDIA H100");
  EXPECT_EQ(slice.devices[1].mem_bytes, int64_t{80} << 30);
  json old = slice_object("n2", 3);
  for (json& each : old["spec"]["devices"]) {
    each = {{"name", each["name"]}, {"basic", {{"attributes", each["attributes"]}}}};
  }
  // A part of a GPU, one that shares with parts, and one with a taint are no GPUs.
  old["spec"]["devices"][0]["basic"]["attributes"]["type"]["string"] = "mig";
  old["spec"]["devices"][1]["basic"]["consumesCounters"] = json::array({json::object()});
  EXPECT_EQ(read_slice(old).value().devices.size(), 1U);
  old["spec"]["devices"][2]["basic"]["taints"] = json::array({json::object()});
  EXPECT_EQ(read_slice(old).value().devices.size(), 0U);
  EXPECT_FALSE(read_slice(json::parse(R"({"spec": {}})")));
}

TEST(KubernetesDevices, ClaimsOfBothVersionsAreRead) {
  const Claim claim = read_claim(claim_object("a", 2)).value();
  ASSERT_EQ(claim.requests.size(), 1U);
  EXPECT_EQ(claim.requests[0].device_class, "gpu.nvidia.com");
  EXPECT_EQ(claim.requests[0].count, 2);
  EXPECT_EQ(claim.unclear, "");
  json old = claim_object("a", 1);
  old["spec"]["devices"]["requests"][0] = {{"name", "r"}, {"deviceClassName", "x"}};
  EXPECT_EQ(read_claim(old).value().requests[0].device_class, "x");
  EXPECT_EQ(read_claim(old).value().requests[0].count, 1) << "if it says nothing";
  const auto unclear = [](const char* key, const json& value) {
    json object = claim_object("a", 1);
    object["spec"]["devices"]["requests"][0]["exactly"][key] = value;
    return read_claim(object).value().unclear;
  };
  EXPECT_THAT(unclear("allocationMode", "All"), HasSubstr("all devices"));
  EXPECT_THAT(unclear("selectors", json::array({json::object()})), HasSubstr("selectors"));
  EXPECT_THAT(unclear("adminAccess", true), HasSubstr("adminAccess"));
  json object = claim_object("a", 1);
  object["spec"]["devices"]["constraints"] = json::array({json::object()});
  EXPECT_THAT(read_claim(object).value().unclear, HasSubstr("constraints"));
}

TEST(KubernetesDevices, TheNewestVersionThatIsServedIsUsed) {
  const auto api = [](const char* versions) {
    return devices_api_of(std::string(R"({"kind": "APIGroup", "versions": [)") + versions + "]}");
  };
  EXPECT_EQ(api(R"({"version": "v1beta1"}, {"version": "v1"})"), "/apis/resource.k8s.io/v1");
  EXPECT_EQ(api(R"({"version": "v1beta1"})"), "/apis/resource.k8s.io/v1beta1");
  EXPECT_EQ(api(R"({"version": "v9"})"), "");
  EXPECT_EQ(devices_api_of("no JSON"), "");
}

TEST(KubernetesDevices, ANodesGpusAreItsDevices) {
  DeviceWorld world;
  json more = slice_object("n2", 12);
  more["spec"]["pool"]["generation"] = 2;
  more["metadata"]["uid"] = "newer";
  world.add_slice(more);
  json other = slice_object("n2", 5);
  other["spec"]["driver"] = "other.example";
  other["metadata"]["uid"] = "other";
  world.add_slice(other);
  const Objects now = world.settled();
  const Node& node = now.nodes.at("/n2");
  ASSERT_EQ(node.devices.size(), 12U) << "those of the newest generation, once";
  EXPECT_EQ(node.seen.num_gpus, 12);
  EXPECT_EQ(node.devices[2].name, "gpu-2");
  EXPECT_EQ(node.devices[10].name, "gpu-10");
  EXPECT_EQ(node.seen.gpu_model, "NVIDIA H100");
  EXPECT_EQ(now.nodes.at("/n1").seen.num_gpus, 4);
  EXPECT_TRUE(now.nodes.at("/n1").devices.empty());
}

TEST(KubernetesDevices, PodsWithClaimsRunWhereADriverIs) {
  DeviceWorld world;
  world.claim(claim_object("a", 2));
  world.pod("p", "a");
  const JobSeen seen = world.view().picture.jobs.at("ml/p/uid-p");
  EXPECT_EQ(seen.blocked, "");
  EXPECT_EQ(seen.spec.num_gpus, 2);
  EXPECT_THAT(seen.spec.exclude_nodes, ElementsAre("n1"));
  // One of a device plug-in may not run where the driver is.
  Pod& plain = world.pod("q", "a");
  plain.claims.clear();
  plain.gpus = 1;
  EXPECT_THAT(world.view().picture.jobs.at("ml/q/uid-q").spec.exclude_nodes, ElementsAre("n2"));
}

TEST(KubernetesDevices, PodsWaitForTheirClaims) {
  DeviceWorld world;
  const auto blocked = [&] { return world.view().picture.jobs.at("ml/p/uid-p").blocked; };
  world.pod("p", "");
  EXPECT_EQ(blocked(), "its ResourceClaims do not exist yet");
  world.pod("p", "a");
  EXPECT_EQ(blocked(), "its ResourceClaims do not exist yet");
  Claim& claim = world.claim(claim_object("a", 1));
  EXPECT_EQ(blocked(), "");
  claim.users = {"uid-other"};
  EXPECT_THAT(blocked(), HasSubstr("reserved for another pod"));
  claim.users.clear();
  world.pod("q", "a");
  EXPECT_THAT(blocked(), HasSubstr("several pods"));
  world.objects.pods.erase("ml/q");
  world.objects.classes.clear();
  EXPECT_THAT(blocked(), HasSubstr("gpu.nvidia.com is not known"));
  claim.requests[0].device_class = "other";
  EXPECT_THAT(blocked(), HasSubstr("of the class other"));
  // A look without slices and claims starts nothing without its GPUs.
  const auto gangs = gangs_of(world.objects, world.rules);
  Pod read = read_pod(json::parse(R"({"metadata": {"name": "p", "uid": "u"}, "spec": {
    "resourceClaims": [{"name": "x", "resourceClaimName": "a"}, {"name": "y",
    "resourceClaimTemplateName": "t"}]}, "status": {"resourceClaimStatuses": [
    {"name": "y", "resourceClaimName": "made"}]}})"))
                 .value();
  EXPECT_THAT(read.claims, ElementsAre("a", "made"));
  EXPECT_EQ(read.waits, "its ResourceClaims are not known");
}

TEST(KubernetesDevices, WhoHoldsWhichGpuIsWhatClaimsSay) {
  DeviceWorld world;
  DeviceWorld::allocate(world.claim(claim_object("a", 2)), "n2", {"gpu-3", "gpu-1"}, {"uid-p"});
  Pod& other = world.pod("p", "a");
  other.scheduler = "default-scheduler";
  other.node = "n2";
  const View view = world.view();
  EXPECT_FALSE(view.picture.jobs.at("ml/p/uid-p").managed);
  EXPECT_THAT(view.picture.jobs.at("ml/p/uid-p").parts[0].gpus, ElementsAre(3, 1));
  EXPECT_EQ(view.picture.jobs.at("ml/p/uid-p").spec.num_gpus, 2);
  // Beside a driver nobody knows which GPUs a pod without claims has.
  Pod& plain = world.pod("q", "a");
  plain.claims.clear();
  plain.gpus = 1;
  plain.scheduler = "default-scheduler";
  plain.node = "n2";
  EXPECT_THAT(world.view().picture.jobs.at("ml/q/uid-q").parts[0].gpus, ElementsAre(0, 2));
}

TEST(KubernetesDevices, ALabelThatChangesLaterFreesNoGpu) {
  DeviceWorld world;
  world.rules.indices = Indices::Exact;
  Pod& pod = world.pod("p", "");
  pod.claims.clear();
  pod.node = "n1";
  pod.phase = Phase::Running;
  pod.meta.notes = {{std::string(kGpusNote), "0,2"}, {std::string(kRunNote), "goban:1.5.1"}};
  for (const int32_t labelled : {2, 0, 4}) {
    pod.gpus = labelled;
    const JobSeen seen = world.view().picture.jobs.at("ml/p/uid-p");
    EXPECT_THAT(seen.parts.at(0).gpus, ElementsAre(0, 2)) << labelled;
    EXPECT_EQ(seen.spec.num_gpus, 2);
  }
  // Where the default scheduler placed it, nobody knows better than its labels.
  pod.meta.notes.clear();
  EXPECT_THAT(world.view().picture.jobs.at("ml/p/uid-p").parts.at(0).gpus, ElementsAre(0, 1, 2, 3));
}

TEST(KubernetesDevices, AClaimThatNobodyUsesKeepsItsDevices) {
  DeviceWorld world;
  Claim& claim = world.claim(claim_object("a", 1));
  DeviceWorld::allocate(claim, "n2", {"gpu-2"}, {});
  const JobSeen seen = world.view().picture.jobs.at("ml/a/c-a");
  EXPECT_FALSE(seen.managed);
  EXPECT_THAT(seen.parts[0].gpus, ElementsAre(2));
  // Its pod is gone: its controller takes it back.
  claim.users = {"uid-gone"};
  EXPECT_TRUE(world.view().picture.jobs.empty());
}

std::vector<Binding> bindings_for(const Objects& objects, std::vector<int32_t> gpus) {
  return {{.pod = &objects.pods.at("ml/p"), .node = "n2", .gpus = std::move(gpus)}};
}

TEST(KubernetesDevices, AGrantNamesTheDevicesOfTheDecision) {
  DeviceWorld world;
  Claim& claim = world.claim(claim_object("a", 2));
  claim.config = R"([{"opaque": {"driver": "gpu.nvidia.com", "parameters": {}}}])";
  world.objects.classes.at("/gpu.nvidia.com").config = R"([{"opaque": {"driver": "d"}}])";
  world.pod("p", "a");
  const Objects now = world.settled();
  std::vector<Binding> bindings = bindings_for(now, {3, 0});
  ASSERT_TRUE(grant_devices(bindings, now, world.rules));
  ASSERT_EQ(bindings[0].grants.size(), 1U);
  const Grant& grant = bindings[0].grants[0];
  const json body = json::parse(allocation_body(grant, "3"));
  EXPECT_EQ(body["apiVersion"], "resource.k8s.io/v1");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "3");
  const json& allocation = body["status"]["allocation"];
  const json first = {
      {"request", "gpus"}, {"driver", "gpu.nvidia.com"}, {"pool", "n2"}, {"device", "gpu-3"}};
  EXPECT_EQ(allocation["devices"]["results"][0], first);
  EXPECT_EQ(allocation["devices"]["results"][1]["device"], "gpu-0");
  EXPECT_EQ(allocation["devices"]["config"][0]["source"], "FromClass");
  EXPECT_EQ(allocation["devices"]["config"][0]["requests"], json::array({"gpus"}));
  EXPECT_EQ(allocation["devices"]["config"][1]["source"], "FromClaim");
  EXPECT_EQ(allocation["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"],
            json::array({"n2"}));
  EXPECT_EQ(body["status"]["reservedFor"][0]["uid"], "uid-p");
  Claim done = claim;
  DeviceWorld::allocate(done, "n2", {"gpu-3", "gpu-0"}, {"uid-p"});
  EXPECT_TRUE(is_granted(done, grant));
  done.users = {"uid-p", "uid-q"};
  EXPECT_FALSE(is_granted(done, grant));
}

TEST(KubernetesDevices, NoDeviceIsGivenTwice) {
  DeviceWorld world;
  world.claim(claim_object("a", 1));
  world.pod("p", "a");
  Claim& held = world.claim(claim_object("b", 1));
  DeviceWorld::allocate(held, "n2", {"gpu-1"}, {"uid-q"});
  world.pod("q", "b").node = "n2";
  const auto granted = [&](std::vector<int32_t> gpus) {
    const Objects now = world.settled();
    std::vector<Binding> bindings = bindings_for(now, std::move(gpus));
    return grant_devices(bindings, now, world.rules).has_value();
  };
  EXPECT_FALSE(granted({1}));
  EXPECT_TRUE(granted({0}));
  EXPECT_FALSE(granted({4})) << "it has four";
  EXPECT_FALSE(granted({}));
  held.users.clear();
  world.objects.pods.erase("ml/q");
  EXPECT_FALSE(granted({1})) << "nobody uses it, but it is allocated";
}

TEST(KubernetesDevices, WhatAnotherSchedulerAllocatesBeforeItBindsIsNotFree) {
  DeviceWorld world;
  world.claim(claim_object("a", 1));
  world.pod("p", "a");
  DeviceWorld::allocate(world.claim(claim_object("b", 1)), "n2", {"gpu-1"}, {"uid-q"});
  world.pod("q", "b").scheduler = "default-scheduler";
  const auto granted = [&](std::vector<int32_t> gpus) {
    const Objects now = world.settled();
    std::vector<Binding> bindings = bindings_for(now, std::move(gpus));
    return grant_devices(bindings, now, world.rules).has_value();
  };
  EXPECT_FALSE(granted({1}));
  EXPECT_TRUE(granted({0}));
}

TEST(KubernetesDevices, ADeviceThatIsNoGpuHoldsNone) {
  DeviceWorld world;
  Claim& claim = world.claim(claim_object("card", 1));
  claim.requests[0].device_class = "nic.example";
  claim.is_allocated = true;
  claim.users = {"uid-q"};
  claim.results = {{.request = "gpus", .driver = "nic.example", .device = {"n2", "gpu-1"}}};
  Pod& pod = world.pod("q", "card");
  pod.scheduler = "default-scheduler";
  pod.node = "n2";
  EXPECT_TRUE(world.view().picture.jobs.empty()) << "it would hold all GPUs that are free";
}

TEST(KubernetesDevices, OfTwoClaimsToOneDeviceThatOfOthersStays) {
  DeviceWorld world;
  for (const char* name : {"a", "b", "c"}) {
    DeviceWorld::allocate(world.claim(claim_object(name, 1)), "n2", {"gpu-1"},
                          {std::string("uid-") + name});
    world.pod(name, name).node = "n2";
    world.objects.pods.at(std::string("ml/") + name).start_ns = 10 + name[0];
  }
  const auto second = [&] {
    const Objects now = world.settled();
    return doubled(gangs_of(now, world.rules), world.rules);
  };
  EXPECT_THAT(second(), ElementsAre("ml/b/uid-b", "ml/c/uid-c")) << "the oldest stays";
  world.objects.pods.at("ml/c").scheduler = "default-scheduler";
  EXPECT_THAT(second(), ElementsAre("ml/a/uid-a", "ml/b/uid-b"));
}

TEST(KubernetesDevices, AnAllocationWithoutABindingIsTakenBack) {
  DeviceWorld world;
  Claim& claim = world.claim(claim_object("a", 1));
  DeviceWorld::allocate(claim, "n2", {"gpu-1"}, {"uid-p"});
  Pod& pod = world.pod("p", "a");
  ASSERT_EQ(left_granted(world.settled(), world.rules).size(), 1U);
  const json body = json::parse(release_body("/apis/resource.k8s.io/v1beta1", claim.meta));
  EXPECT_EQ(body["apiVersion"], "resource.k8s.io/v1beta1");
  EXPECT_TRUE(body["status"].empty());
  pod.node = "n2";
  EXPECT_TRUE(left_granted(world.settled(), world.rules).empty());
  pod.node = "";
  pod.scheduler = "default-scheduler";
  EXPECT_TRUE(left_granted(world.settled(), world.rules).empty()) << "that of another scheduler";
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
