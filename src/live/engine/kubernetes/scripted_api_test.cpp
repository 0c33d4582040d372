// The engine against an API server that misbehaves.
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.hpp"
#include "live/engine/kubernetes/kubernetes_engine.hpp"
#include "live/engine/kubernetes/test_api_server.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using testing::HasSubstr;

constexpr const char* kFirst = "ml/p1/uid-p1";

class KubernetesFaults : public testing::Test {
 protected:
  std::vector<std::string> told(size_t count) {
    for (int i = 0; i < 2000 && server_.told().size() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return server_.told();
  }
  KubernetesFaults() {
    server_.add_node("n1");
    server_.add_pod("p1");
  }
  KubernetesEngine& start(double silence_s = 60, uint32_t page = 500) {
    KubernetesOptions options;
    options.access.server = server_.url();
    options.rules.mode = Mode::All;
    options.epoch = 1;
    options.timeout_s = 5;
    options.connections = 2;
    options.look_s = 0.05;
    options.tells = true;
    options.patience.repeat_ns = base::kSecond / 5;
    options.mirror = {.silence_s = silence_s, .pause_s = 0.02, .pause_most_s = 0.1, .page = page};
    engine_ = std::make_unique<KubernetesEngine>(options);
    engine_->recall({});
    return *engine_;
  }
  /// Takes events until one is as wanted; nullptr after ten seconds.
  template <typename Event, typename Is>
  const Event* wait(const Is& is) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < end) {
      for (EngineEvent& event : engine_->take_events()) events_.push_back(std::move(event));
      for (const EngineEvent& event : events_) {
        const auto* found = std::get_if<Event>(&event);
        if (found != nullptr && is(*found)) return found;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return nullptr;
  }
  const JobSeen* seen(const std::string& id) {
    return wait<JobSeen>([&](const JobSeen& job) { return job.id == id; });
  }
  const Report* report(ReportKind kind) {
    return wait<Report>([&](const Report& each) { return each.kind == kind; });
  }
  void launch(const std::string& id = kFirst) {
    engine_->launch(
        {.run = {JobId(5U), 1}, .engine_id = id, .parts = {{.node = "n1", .gpus = {2}}}});
  }

  TestApiServer server_;
  std::unique_ptr<KubernetesEngine> engine_;
  std::deque<EngineEvent> events_;
};

/// The first `count` requests that begin so are answered by `answer`.
TestApiServer::Fault first(int count, const std::string& method, const std::string& path,
                           const TestApiServer::Fault& answer) {
  return [=, left = count](const httplib::Request& request, httplib::Response& response) mutable {
    if (left == 0 || request.method != method || request.path.find(path) == std::string::npos)
      return false;
    if (!answer(request, response)) return false;
    --left;
    return true;
  };
}

TestApiServer::Fault with_status(int status, const char* retry_after = nullptr) {
  return [=](const httplib::Request&, httplib::Response& response) {
    TestApiServer::refuse(response, status);
    if (retry_after != nullptr) response.set_header("Retry-After", retry_after);
    return true;
  };
}

TEST_F(KubernetesFaults, WithoutAFaultOneBindingIsEnough) {
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  EXPECT_EQ(server_.bindings(), 1);
}

TEST_F(KubernetesFaults, UsersAreToldWhatWasDone) {
  server_.set_fault(first(1, "POST", "/binding", with_status(403)));
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Declined));
  EXPECT_THAT(told(1), testing::ElementsAre(
                           "BindFailed Pod/p1: pod p1 was not bound to n1: HTTP 403: refused"));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  const std::vector<std::string> all = told(2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1], "Placed Pod/p1: 1 pod with 1 GPU on n1");
}

TEST_F(KubernetesFaults, EventsThatHangAreInNobodysWay) {
  server_.hang_events();
  server_.add_pod("p2");
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  EXPECT_EQ(told(1).size(), 1U);
  ASSERT_TRUE(seen("ml/p2/uid-p2"));
  engine_->launch(
      {.run = {JobId(6U), 1}, .engine_id = "ml/p2/uid-p2", .parts = {{.node = "n1", .gpus = {3}}}});
  EXPECT_TRUE(wait<Report>([](const Report& each) {
    return each.kind == ReportKind::Started && each.run.job == JobId(6U);
  }));
  EXPECT_EQ(server_.told().size(), 1U) << "the first one still hangs";
}

TEST_F(KubernetesFaults, AConflictIsLookedUpAndTriedAgain) {
  start();
  ASSERT_TRUE(seen(kFirst));
  server_.mute(true);  // the engine does not hear of the newer version
  server_.change_pod("p1", [](auto& pod) { pod["metadata"]["labels"] = {{"a", "b"}}; });
  launch();
  for (int i = 0; i < 1000 && server_.bindings() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  server_.mute(false);
  ASSERT_TRUE(report(ReportKind::Started));
  EXPECT_EQ(server_.bindings(), 2);
}

TEST_F(KubernetesFaults, AHalfAnswerIsLookedUpNotRepeated) {
  server_.set_fault(first(1, "POST", "/binding", [&](const auto& request, auto& response) {
    httplib::Response ignored;
    server_.bind(request, ignored);
    // The server promises more than it sends.
    response.set_content_provider(1000, "application/json",
                                  [](size_t offset, size_t, httplib::DataSink& sink) {
                                    if (offset == 0) sink.write("{\"kind\"", 7);
                                    return offset == 0;
                                  });
    return true;
  }));
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  EXPECT_EQ(server_.bindings(), 1);
}

TEST_F(KubernetesFaults, AnErrorOfUnknownOutcomeIsLookedUp) {
  server_.set_fault(first(1, "POST", "/binding", with_status(500)));
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  EXPECT_EQ(server_.bindings(), 2);
}

TEST_F(KubernetesFaults, PatienceIsGivenWhenAskedFor) {
  server_.set_fault(first(1, "POST", "/binding", with_status(429, "1")));
  start();
  ASSERT_TRUE(seen(kFirst));
  const auto began = std::chrono::steady_clock::now();
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(900));
}

TEST_F(KubernetesFaults, ARefusalIsADecline) {
  server_.set_fault(first(1, "POST", "/binding", with_status(403)));
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  const Report* declined = report(ReportKind::Declined);
  ASSERT_TRUE(declined);
  EXPECT_THAT(declined->detail, HasSubstr("p1: HTTP 403: refused"));
}

TEST_F(KubernetesFaults, OnlyNodesWhereAGangMayNotRunAreLeftOut) {
  server_.add_node("n2");
  server_.add_pod("p2");
  for (const char* name : {"p1", "p2"}) {
    server_.change_pod(name, [](auto& pod) {
      pod["metadata"]["labels"] = {{"goban.dev/gang", "g"}, {"goban.dev/gang-size", "2"}};
      pod["spec"]["tolerations"] = {{{"key", "mine"}, {"operator", "Exists"}}};
    });
  }
  const auto taken = TestApiServer::json::parse(
      R"({"metadata": {"name": "n3", "uid": "n3", "labels": {"goban.dev/managed": "true"}},
          "spec": {"taints": [{"key": "theirs", "effect": "NoSchedule"}]},
          "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"},
                     "conditions": [{"type": "Ready", "status": "True"}]}})");
  server_.put_node(taken);
  start();
  ASSERT_TRUE(seen("ml/g"));
  engine_->launch({.run = {JobId(5U), 1},
                   .engine_id = "ml/g",
                   .parts = {{.node = "n2", .gpus = {1}}, {.node = "n3", .gpus = {0}}}});
  const Report* declined = report(ReportKind::Declined);
  ASSERT_TRUE(declined);
  EXPECT_EQ(declined->parts, (std::vector<NodePart>{{.node = "n3", .gpus = {0}}}));
  EXPECT_EQ(server_.bindings(), 0);
  engine_->launch({.run = {JobId(5U), 2},
                   .engine_id = "ml/g",
                   .parts = {{.node = "n2", .gpus = {1}}, {.node = "n1", .gpus = {0}}}});
  EXPECT_TRUE(report(ReportKind::Started));
}

TEST_F(KubernetesFaults, AnExpiredWatchIsListedAnew) {
  KubernetesEngine& engine = start();
  ASSERT_TRUE(seen(kFirst));
  // Both forms: an event within the stream, and a status.
  server_.mute(true);
  server_.remove_pod("p1");
  server_.add_pod("p2");
  server_.set_fault(first(1, "GET", "/pods", [](const auto& request, auto& response) {
    return request.has_param("watch") && with_status(410)(request, response);
  }));
  server_.say_to_all("{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\"}}\n");
  ASSERT_TRUE(seen("ml/p2/uid-p2"));
  ASSERT_TRUE(wait<JobGone>([](const JobGone& gone) { return gone.id == kFirst; }));
  for (int i = 0; i < 2000 && !engine.problem().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(engine.problem(), "") << "once it was listed after the second form";
}

TEST_F(KubernetesFaults, APageThatExpiredBeginsTheListAnew) {
  for (const char* name : {"p2", "p3", "p4", "p5"}) server_.add_pod(name);
  server_.set_fault(first(1, "GET", "/pods", [](const auto& request, auto& response) {
    return request.has_param("continue") && with_status(410)(request, response);
  }));
  start(60, 2);
  for (const char* name : {"p1", "p2", "p3", "p4", "p5"})
    EXPECT_TRUE(seen(std::string("ml/") + name + "/uid-" + name)) << name;
}

TEST_F(KubernetesFaults, ListsThatFailAreRepeated) {
  int count = 0;
  server_.set_fault([&](const httplib::Request& request, httplib::Response& response) {
    if (request.path != "/api/v1/pods" || ++count > 4) return false;
    if (count == 1) return with_status(500)(request, response);
    if (count == 2) return with_status(429, "1")(request, response);
    response.set_content(count == 3 ? "{\"items\": [" : "[1, 2]", "application/json");
    return true;
  });
  start();
  EXPECT_TRUE(seen(kFirst));
}

TEST_F(KubernetesFaults, WhatWasListedStaysWhileAnApiServerRefusesIt) {
  const auto refuses = std::make_shared<std::atomic<bool>>(false);
  const auto refused = std::make_shared<std::atomic<int>>(0);
  server_.set_fault([=](const httplib::Request& request, httplib::Response& response) {
    if (!request.path.starts_with("/apis/resource.k8s.io")) return false;
    if (*refuses) {
      ++*refused;
      TestApiServer::refuse(response, 403);
    } else if (request.has_param("watch")) {
      TestApiServer::refuse(response, 410);
    } else if (request.path.ends_with(".io")) {
      response.set_content(R"({"versions": [{"version": "v1"}]})", "application/json");
    } else {
      const bool is_slices = request.path.ends_with("/resourceslices");
      response.set_content(std::string(R"({"metadata": {"resourceVersion": "5"}, "items": [)") +
                               (is_slices ? R"({"metadata": {"name": "s", "uid": "s"}, "spec": {
        "driver": "gpu.nvidia.com", "nodeName": "n1", "pool": {"name": "n1", "generation": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]}})"
                                          : "") +
                               "]}",
                           "application/json");
    }
    return true;
  });
  start();
  const auto clusters_of = [&](size_t nodes) {
    return wait<ClusterSeen>([&](const ClusterSeen& each) {
      return each.nodes.size() == nodes && each.nodes[0].num_gpus == 2;
    });
  };
  ASSERT_TRUE(clusters_of(1));
  *refuses = true;
  constexpr int kOften = 20;
  for (int i = 0; i < 2000 && *refused < kOften; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_GE(*refused, kOften);
  server_.add_node("n2");
  EXPECT_TRUE(clusters_of(2)) << "with the devices of n1";
}

TEST_F(KubernetesFaults, ANodeThatIsToWakeIsReportedWhenItIsAwake) {
  start();
  ASSERT_TRUE(seen(kFirst));
  engine_->wake("n1");
  const Report* up = report(ReportKind::NodeUp);
  ASSERT_TRUE(up) << "its GPUs are out of use until then";
  EXPECT_EQ(up->node, "n1");
}

TEST_F(KubernetesFaults, ThatNoNodeIsItsOwnIsToldAtAStart) {
  server_.put_node(TestApiServer::json::parse(
      R"({"metadata": {"name": "n1", "uid": "n1", "labels": {}},
          "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"},
                     "conditions": [{"type": "Ready", "status": "True"}]}})"));
  start();
  const ClusterSeen* told = wait<ClusterSeen>([](const ClusterSeen&) { return true; });
  ASSERT_TRUE(told) << "the daemon may know nodes of an earlier start";
  EXPECT_TRUE(told->nodes.empty());
}

TEST_F(KubernetesFaults, ASilentNodeIsFencedBeforeItsPodsAreEvicted) {
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  engine_->fence("n1", base::wall_ns());
  server_.add_pod("p2");
  ASSERT_TRUE(seen("ml/p2/uid-p2"));
  EXPECT_EQ(server_.removals(), 0) << "the node is ready";
  server_.silence_node("n1");
  const auto in_state = [&](SeenNodeState state) {
    return wait<ClusterSeen>(
        [&](const ClusterSeen& each) { return each.nodes.at(0).state == state; });
  };
  const ClusterSeen* silent = in_state(SeenNodeState::Drained);
  ASSERT_TRUE(silent);
  EXPECT_TRUE(silent->nodes[0].silent);
  EXPECT_EQ(server_.removals(), 0) << "the order of then has ended";
  engine_->fence("n1", base::wall_ns());
  const JobGone* gone = wait<JobGone>([](const JobGone& each) { return each.id == kFirst; });
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->how, GoneHow::NodeFailed) << "nobody cancelled it";
  const Report* lost = report(ReportKind::Lost);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->detail, "its node was fenced");
  EXPECT_TRUE(in_state(SeenNodeState::Down)) << "nothing starts there";
  EXPECT_EQ(server_.removals(), 1) << "the pod that waits stays";
}

TEST_F(KubernetesFaults, APodThatAnEarlierDaemonRemovedFromAFencedNodeWasNotCancelled) {
  server_.silence_node("n1");
  for (const bool has_begun : {false, true}) {
    start();
    const KnownJob known = {.job = JobId(5U),
                            .engine_id = "ml/gone/uid-gone",
                            .managed = true,
                            .run = {JobId(5U), 1},
                            .launched = has_begun,
                            .parts = {{.node = "n1", .gpus = {2}}}};
    engine_->recall({known});
    engine_->fence("n1", base::wall_ns());
    const JobGone* gone = wait<JobGone>([](const JobGone&) { return true; });
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->how, GoneHow::NodeFailed);
    EXPECT_EQ(gone->detail, "its node was fenced");
    events_.clear();
  }
}

TEST_F(KubernetesFaults, ASilentStreamIsDead) {
  start(0.3);
  ASSERT_TRUE(seen(kFirst));
  server_.mute(true);
  server_.add_pod("p2");  // the event is lost
  EXPECT_TRUE(seen("ml/p2/uid-p2"));
}

TEST_F(KubernetesFaults, AVersionThatWentBackIsFollowed) {
  server_.set_version(5'000'000);
  server_.add_pod("p2");
  start(0.3);
  ASSERT_TRUE(seen("ml/p2/uid-p2"));
  server_.set_version(10);  // etcd was restored: all that follows is older than what was seen
  server_.remove_pod("p1");
  server_.change_pod("p2", [](auto& pod) { pod["status"]["phase"] = "Failed"; });
  EXPECT_TRUE(wait<JobGone>([](const JobGone& gone) { return gone.id == kFirst; }));
  EXPECT_TRUE(wait<JobGone>([](const JobGone& gone) { return gone.id == "ml/p2/uid-p2"; }));
}

TEST_F(KubernetesFaults, OldAndDoubledEventsChangeNothing) {
  start();
  ASSERT_TRUE(seen(kFirst));
  launch();
  ASSERT_TRUE(report(ReportKind::Started));
  // The pod as it was before it had a node.
  server_.say_to_all(
      R"({"type":"MODIFIED","object":{"metadata":{"name":"p1","namespace":"ml","uid":"uid-p1",)"
      R"("resourceVersion":"101"},"spec":{"schedulerName":"goban"}}})"
      "\n");
  server_.add_pod("p2");
  ASSERT_TRUE(seen("ml/p2/uid-p2"));
  for (const EngineEvent& event : events_) {
    const auto* lost = std::get_if<Report>(&event);
    EXPECT_FALSE(lost != nullptr && lost->kind == ReportKind::Lost);
  }
}

TEST_F(KubernetesFaults, EndsWhileTheServerHangs) {
  start();
  ASSERT_TRUE(seen(kFirst));
  server_.set_fault([](const httplib::Request& request, httplib::Response&) {
    if (request.method == "POST") std::this_thread::sleep_for(std::chrono::seconds(3));
    return false;
  });
  launch();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto began = std::chrono::steady_clock::now();
  engine_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2500));
}

TEST_F(KubernetesFaults, RequestsAreBounded) {
  const std::atomic<bool> never{false};
  Access access;
  access.server = server_.url();
  constexpr double kRate = 50;
  Api api(std::make_shared<Credentials>(access, kRate), never, 5);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 75; ++i) EXPECT_TRUE(api.get("/api/v1/nodes?limit=5").fine());
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GT(took, std::chrono::milliseconds(450)) << "a burst of a second, then one each 20 ms";
}

}  // namespace
}  // namespace goban::live::engine::kubernetes
