#include "live/engine/kubernetes/node_sleep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <thread>

#include "base/test_folder.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Node sleepy(const std::string& note, bool ready, const char* heard = "2026-01-01T00:00:00Z") {
  json object = json::parse(R"({"metadata": {"name": "n1", "uid": "u",
    "labels": {"goban.dev/managed": "true"}}, "spec": {"unschedulable": true},
    "status": {"allocatable": {"nvidia.com/gpu": "4"}}})");
  object["metadata"]["annotations"]["goban.dev/sleep"] = note;
  object["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", ready ? "True" : "Unknown"}, {"lastHeartbeatTime", heard}}};
  return read_node(object).value();
}

TEST(KubernetesSleep, ANodeIsAwakeWhenItIsReadyAgain) {
  constexpr TimeNs kPatience_ns = 600 * base::kSecond;
  const auto woken = [&](const std::string& note, bool ready, int64_t now_s) {
    return is_woken(sleepy(note, ready), now_s * base::kSecond, kPatience_ns);
  };
  EXPECT_TRUE(is_asleep(sleepy("asleep", false)));
  EXPECT_FALSE(woken("asleep", true, 5000)) << "on its way into its sleep";
  EXPECT_FALSE(woken("waking 1000", false, 1500));
  EXPECT_TRUE(woken("waking 1000", true, 1001));
  EXPECT_TRUE(woken("waking 1000", false, 1601)) << "it is down then, for all to see";
  EXPECT_TRUE(woken("waking x", false, 1601));
  EXPECT_EQ(waking_since(sleepy("", true)), -1);
}

TEST(KubernetesSleep, WhatANodeSaidBeforeItsSleepDoesNotCount) {
  constexpr const char* kBefore = "2026-01-01T00:00:00Z";
  constexpr int64_t kBefore_s = 1'767'225'600;
  const Node node = sleepy("asleep", true, kBefore);
  ASSERT_EQ(node.heard_ns, kBefore_s * base::kSecond);
  // It was switched off 20 s ago: the API server has not noticed yet.
  const TimeNs now_ns = (kBefore_s + 40) * base::kSecond;
  const std::string note =
      json::parse(wake_body(now_ns, node.heard_ns))["metadata"]["annotations"]["goban.dev/sleep"];
  EXPECT_EQ(note, fmt::format("waking {} {}", kBefore_s + 40, kBefore_s));
  EXPECT_FALSE(is_awake(sleepy(note, true, kBefore)));
  EXPECT_FALSE(is_woken(sleepy(note, true, kBefore), now_ns, base::kMinute));
  EXPECT_TRUE(is_woken(sleepy(note, true, kBefore), now_ns + 61 * base::kSecond, base::kMinute));
  EXPECT_EQ(waking_since(sleepy(note, true)), now_ns);
  // Its clock may be an hour behind: only its own times are compared.
  EXPECT_TRUE(is_awake(sleepy(note, true, "2026-01-01T00:00:01Z")));
  EXPECT_FALSE(is_awake(sleepy(note, false, "2026-01-01T00:00:01Z")));
  EXPECT_TRUE(is_awake(sleepy("waking 7 x", true, kBefore))) << "of another hand";
}

TEST(KubernetesSleep, ANodeThatSomebodyElseCordonedIsLeftAlone) {
  EXPECT_TRUE(is_taken_out(sleepy("", true)));
  EXPECT_TRUE(is_taken_out(sleepy("", false)));
  EXPECT_FALSE(is_taken_out(sleepy("asleep", false)));
  EXPECT_FALSE(is_taken_out(sleepy("waking 7", true)));
  Node open = sleepy("", true);
  open.is_cordoned = false;
  EXPECT_FALSE(is_taken_out(open));
}

TEST(KubernetesSleep, ASleepingNodeCountsAsUp) {
  Objects objects;
  objects.nodes["/n1"] = sleepy("asleep", false);
  const auto state = [&](bool sleeps) {
    const Rules rules{.mode = Mode::All, .sleeps = sleeps};
    return view_of(objects, {}, rules, {}, {}).picture.cluster.nodes.at(0).state;
  };
  EXPECT_EQ(state(true), SeenNodeState::Up);
  EXPECT_EQ(state(false), SeenNodeState::Down) << "nobody here would wake it";
  objects.nodes["/n1"] = sleepy("", false);
  EXPECT_EQ(state(true), SeenNodeState::Down);
}

TEST(KubernetesSleep, PodsThatAreNoJobsKeepANodeAwake) {
  std::map<std::string, Pod> pods;
  const auto add = [&](const std::string& node, const std::string& owner, Phase phase) {
    Pod pod;
    pod.node = node;
    pod.owner_kind = owner;
    pod.phase = phase;
    pods["x/" + node] = pod;
  };
  add("database", "StatefulSet", Phase::Running);
  add("starts", "", Phase::Pending);
  add("agent", "DaemonSet", Phase::Running);
  add("static", "Node", Phase::Running);
  add("over", "Job", Phase::Succeeded);
  add("", "Job", Phase::Pending);
  EXPECT_THAT(nodes_in_use(pods), testing::ElementsAre("database", "starts"));
}

TEST(KubernetesSleep, WhatIsWritten) {
  EXPECT_EQ(json::parse(sleep_body()),
            json::parse(R"({"metadata": {"annotations": {"goban.dev/sleep": "asleep"}},
                            "spec": {"unschedulable": true}})"));
  EXPECT_EQ(
      json::parse(wake_body(7 * base::kSecond, -1))["metadata"]["annotations"]["goban.dev/sleep"],
      "waking 7");
  EXPECT_TRUE(json::parse(woken_body())["spec"]["unschedulable"].is_null());
  EXPECT_EQ(node_path("n/1"), "/api/v1/nodes/n%2F1");
}

TEST(KubernetesSleep, TheCommandOfTheSiteRunsOnceAtATimeForANode) {
  const base::TestFolder folder("sleep");
  const std::string path = folder.write(
      "power", "#!/bin/sh\n[ $2 = bad ] && exit 3\nsleep 0.1\necho $1 $2 >>" + (folder / "did\n"));
  ::chmod(path.c_str(), 0755);
  SleepCommand command(path);
  command.run("sleep", "n1");
  command.run("wake", "n1");
  command.run("sleep", "bad");
  EXPECT_TRUE(command.is_busy("n1"));
  EXPECT_FALSE(command.is_busy("n2"));
  std::vector<std::string> failures;
  std::string did;
  for (int i = 0; i < 2000 && did.find("wake") == std::string::npos; ++i) {
    for (std::string& each : command.look()) failures.push_back(std::move(each));
    did = base::TestFolder::read(folder / "did");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(did, "sleep n1\nwake n1\n");
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_THAT(failures[0], HasSubstr("sleep bad: exit code 3"));
  SleepCommand absent("/does/not/exist");
  absent.run("sleep", "n1");
  EXPECT_THAT(absent.look().at(0), HasSubstr("No such file"));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
