#include "live/engine/kubernetes/pod_logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace goban::live::engine::kubernetes {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json pod_of(const std::string& name, const std::string& index) {
  json pod = json::parse(R"({"metadata": {"namespace": "ml", "ownerReferences": [
    {"kind": "Job", "name": "train", "uid": "u1", "controller": true}]},
    "spec": {"containers": [{"name": "main"}, {"name": "proxy"}]}})");
  pod["metadata"]["name"] = name;
  pod["metadata"]["uid"] = "uid-" + name;
  pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] = index;
  return pod;
}

TEST(KubernetesLogs, PodsOfAGang) {
  json other = pod_of("other", "0");
  other["metadata"]["ownerReferences"][0]["uid"] = "u2";
  json labelled = other;
  labelled["metadata"]["name"] = "l";
  labelled["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] = "train";
  std::vector<LogSource> out;
  add_log_sources({pod_of("a", "1"), other, labelled, 7}, {.gang = "ml/train/u1"}, out);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[1].pod, "l");
  settle_log_sources(out);
  ASSERT_EQ(out.size(), 1U) << "a Job of that name is no JobSet";
  EXPECT_EQ(out[0].pod, "a");
  EXPECT_THAT(out[0].others, ElementsAre("proxy"));
  EXPECT_EQ(log_path(out[0], {.follow = true, .lines = 5}),
            "/api/v1/namespaces/ml/pods/a/log?container=main&follow=true&tailLines=5");
  EXPECT_EQ(log_path({.space = "..", .pod = "a/b", .container = "c&d"}, {}),
            "/api/v1/namespaces/../pods/a%2Fb/log?container=c%26d");
  out.clear();
  other["metadata"].erase("ownerReferences");
  add_log_sources(json::array({other}), {.gang = "ml/other/uid-other"}, out);
  EXPECT_EQ(out.size(), 1U) << "a pod by itself";
  add_log_sources(json::array({other}), {.gang = "vision/other/uid-other"}, out);
  EXPECT_EQ(out.size(), 1U);
  EXPECT_TRUE(is_gang_id("ml/train/u1"));
  EXPECT_FALSE(is_gang_id("1042"));
}

TEST(KubernetesLogs, OnlyPodsOfTheJob) {
  const auto labelled = [](const std::string& name, const char* label, const char* run) {
    json pod = pod_of(name, "");
    pod["metadata"].erase("ownerReferences");
    pod["metadata"]["labels"][label] = "train";
    pod["spec"]["nodeName"] = "n1";
    if (*run != '\0') pod["metadata"]["annotations"]["goban.dev/run"] = run;
    return pod;
  };
  const auto pods = [](const json& items, const LogQuestion& question) {
    std::vector<LogSource> out;
    add_log_sources(items, question, out);
    settle_log_sources(out);
    std::vector<std::string> names;
    for (const LogSource& each : out) names.push_back(each.pod);
    return names;
  };
  const json gang = labelled("stranger", "goban.dev/gang", "goban:1.6.1");
  const json theirs = labelled("theirs", "goban.dev/gang", "");
  EXPECT_THAT(pods({pod_of("a", "0"), gang, theirs}, {.gang = "ml/train/u1"}), ElementsAre("a"));
  EXPECT_THAT(pods({pod_of("a", "0"), gang, theirs}, {.gang = "ml/train"}),
              ElementsAre("stranger"));
  // Two jobs of one pod group, one after the other; their numbers begin with 1.
  const char* const group = "scheduling.x-k8s.io/pod-group";
  const json batches = {labelled("first", group, "goban:1.6.1"),
                        labelled("second", group, "goban:1.7.1")};
  EXPECT_THAT(pods(batches, {.gang = "ml/train/pod-group", .job = 8}), ElementsAre("second"));
  // The launcher of an MPIJob has a Job of its own.
  json worker = pod_of("worker", "0");
  worker["metadata"]["ownerReferences"][0]["kind"] = "MPIJob";
  json launcher = pod_of("launcher", "0");
  launcher["metadata"]["ownerReferences"][0] = {
      {"kind", "Job"}, {"name", "train-launcher"}, {"uid", "u9"}, {"controller", true}};
  for (json* each : {&worker, &launcher})
    (*each)["metadata"]["labels"]["training.kubeflow.org/job-name"] = "train";
  EXPECT_THAT(pods({worker, launcher}, {.gang = "ml/train/u1"}), ElementsAre("worker", "launcher"));
}

class KubernetesLogsServer : public testing::Test {
 protected:
  KubernetesLogsServer() {
    server_.Get("/api/v1/namespaces/ml/pods",
                [this](const httplib::Request& request, httplib::Response& response) {
                  if (request.get_header_value("Authorization") != "Bearer mine") {
                    response.status = 403;
                    response.set_content(R"({"message": "pods is forbidden"})", "application/json");
                    return;
                  }
                  const json list{{"metadata", {{"resourceVersion", "1"}}}, {"items", pods_}};
                  response.set_content(list.dump(), "application/json");
                });
    server_.Get(R"(/api/v1/namespaces/ml/pods/([^/]+)/log)", [](const httplib::Request& request,
                                                                httplib::Response& response) {
      const std::string pod = request.matches[1];
      if (pod == "waits") {
        response.status = 400;
        response.set_content(R"({"message": "is waiting to start"})", "application/json");
        return;
      }
      response.set_content("one of " + pod + "\ntwo", "text/plain");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~KubernetesLogsServer() override {
    server_.stop();
    thread_.join();
  }
  base::Result<std::vector<std::string>> read(const std::string& token, bool follow = false) {
    said_.clear();
    const Access access{.server = "http://127.0.0.1:" + std::to_string(port_), .token = token};
    const auto take = [this](std::string_view piece) {
      said_ += piece;
      return true;
    };
    return read_logs(access, {.gang = "ml/train/u1", .container = container_, .follow = follow},
                     take, ending_);
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<bool> ending_{false};
  json pods_ = json::array();
  std::string said_{};
  std::string container_{};
};

TEST_F(KubernetesLogsServer, OfOnePodByteByByteAndOfSeveralWithTheirNames) {
  pods_ = json::array({pod_of("train-0", "0")});
  ASSERT_TRUE(read("mine"));
  EXPECT_EQ(said_, "one of train-0\ntwo");
  pods_ = json::array({pod_of("b", "1"), pod_of("c", "0")});
  ASSERT_TRUE(read("mine"));
  EXPECT_EQ(said_, "[c] one of c\n[c] two\n[b] one of b\n[b] two\n") << "in the order of indices";
  ASSERT_TRUE(read("mine", true));
  EXPECT_EQ(said_.size(), 42U);
}

TEST_F(KubernetesLogsServer, WhatCannotBeReadIsSaid) {
  EXPECT_THAT(read("mine").error().message, HasSubstr("no pods of ml/train/u1 any more"));
  EXPECT_THAT(read("theirs").error().message, HasSubstr("HTTP 403: pods is forbidden"));
  pods_ = json::array({pod_of("waits", "0")});
  EXPECT_THAT(read("mine").error().message, HasSubstr("waits: HTTP 400: is waiting to start"));
  pods_.push_back(pod_of("b", "1"));
  const auto some = read("mine");
  ASSERT_TRUE(some);
  EXPECT_THAT(*some, ElementsAre("waits: HTTP 400: is waiting to start",
                                 "only the first container of each pod is printed, and not proxy"));
  EXPECT_EQ(said_, "[b] one of b\n[b] two\n");
  container_ = "proxy";
  EXPECT_THAT(*read("mine"), ElementsAre("waits: HTTP 400: is waiting to start"));
  container_ = "none";
  EXPECT_THAT(read("mine").error().message, HasSubstr("no pod of the job has a container none"));
  EXPECT_EQ(read("mine").error().remedy, "there are: main, proxy");
  container_.clear();
  while (pods_.size() < 65) pods_.push_back(pod_of("x" + std::to_string(pods_.size()), "2"));
  EXPECT_THAT(read("mine", true).error().message, HasSubstr("65 pods are too many"));
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
