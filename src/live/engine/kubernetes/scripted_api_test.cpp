// The engine against an API server that misbehaves.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "live/engine/kubernetes/kubernetes_engine.hpp"

namespace goban::live::engine::kubernetes {
namespace {

using testing::HasSubstr;

/// Keeps nodes, pods and Jobs in memory, and does on demand what a real API server seldom does.
class TestApiServer {
 public:
  using json = nlohmann::json;
  /// Answers instead of the server if it returns true. Called with the server locked.
  using Fault = std::function<bool(const httplib::Request&, httplib::Response&)>;

  TestApiServer() {
    const auto list = [this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
    };
    for (const char* path : {"/api/v1/nodes", "/api/v1/pods", "/apis/batch/v1/jobs"})
      server_.Get(path, list);
    server_.Get(R"(/apis/resource\.k8s\.io.*)",
                [this](const httplib::Request& request, httplib::Response& response) {
                  const std::scoped_lock lock(mutex_);
                  if (!is_faulty(request, response)) refuse(response, 404);
                });
    server_.Get(R"(/api/v1/namespaces/ml/pods/([^/]+))",
                [this](const httplib::Request& request, httplib::Response& response) {
                  const std::scoped_lock lock(mutex_);
                  if (is_faulty(request, response)) return;
                  const auto pod = pods_.find(request.matches[1]);
                  if (pod == pods_.end()) return refuse(response, 404);
                  response.set_content(pod->second.dump(), "application/json");
                });
    server_.Post(R"(/api/v1/namespaces/ml/pods/([^/]+)/binding)",
                 [this](const httplib::Request& request, httplib::Response& response) {
                   const std::scoped_lock lock(mutex_);
                   ++bindings_;
                   if (is_faulty(request, response)) return;
                   bind(request, response);
                 });
    server_.Post("/api/v1/namespaces/ml/events",
                 [this](const httplib::Request& request, httplib::Response& response) {
                   {
                     const std::scoped_lock lock(mutex_);
                     told_.push_back(json::parse(request.body));
                   }
                   while (events_hang_ && !ending_)
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                   response.status = 201;
                 });
    server_.new_task_queue = [] { return new httplib::ThreadPool(16); };
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~TestApiServer() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    server_.stop();
    thread_.join();
  }
  TestApiServer(const TestApiServer&) = delete;
  TestApiServer& operator=(const TestApiServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void set_fault(Fault fault) {
    const std::scoped_lock lock(mutex_);
    fault_ = std::move(fault);
  }
  /// No watch hears of a change while this is so.
  void mute(bool muted) {
    const std::scoped_lock lock(mutex_);
    muted_ = muted;
    changed_.notify_all();
  }
  /// All streams end with this line.
  void say_to_all(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    last_words_ = line;
    ++epoch_;
    changed_.notify_all();
  }
  void add_node(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    json node = json::parse(R"({"metadata": {"labels": {"goban.dev/managed": "true"}},
      "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"},
                 "conditions": [{"type": "Ready", "status": "True"}]}})");
    node["metadata"]["name"] = node["metadata"]["uid"] = name;
    put("/api/v1/nodes", nodes_, name, node);
  }
  void add_pod(const std::string& name, const std::string& gpus = "1") {
    const std::scoped_lock lock(mutex_);
    json pod = json::parse(R"({"metadata": {"namespace": "ml"}, "spec": {"schedulerName": "goban",
      "containers": [{"resources": {"limits": {}}}]}, "status": {"phase": "Pending"}})");
    pod["metadata"]["name"] = name;
    pod["metadata"]["uid"] = "uid-" + name;
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = gpus;
    put("/api/v1/pods", pods_, name, pod);
  }
  void change_pod(const std::string& name, const std::function<void(json&)>& change) {
    const std::scoped_lock lock(mutex_);
    json pod = pods_.at(name);
    change(pod);
    put("/api/v1/pods", pods_, name, pod);
  }
  void remove_pod(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const json pod = pods_.at(name);
    pods_.erase(name);
    log("/api/v1/pods", "DELETED", pod);
  }
  /// Binds as the server does; for faults that answer otherwise. Locked by the caller.
  void bind(const httplib::Request& request, httplib::Response& response) {
    const json body = json::parse(request.body);
    const auto pod = pods_.find(request.matches[1]);
    if (pod == pods_.end()) return refuse(response, 404);
    json& meta = pod->second["metadata"];
    const bool is_bound = pod->second["spec"].contains("nodeName");
    if (is_bound || body["metadata"]["uid"] != meta["uid"] ||
        body["metadata"]["resourceVersion"] != meta["resourceVersion"]) {
      return refuse(response, 409);
    }
    json changed = pod->second;
    changed["spec"]["nodeName"] = body["target"]["name"];
    changed["metadata"]["annotations"] = body["metadata"]["annotations"];
    changed["status"]["phase"] = "Running";
    put("/api/v1/pods", pods_, request.matches[1], changed);
    response.status = 201;
    response.set_content("{}", "application/json");
  }
  static void refuse(httplib::Response& response, int status) {
    response.status = status;
    response.set_content(json{{"kind", "Status"}, {"message", "refused"}}.dump(),
                         "application/json");
  }
  [[nodiscard]] int bindings() const { return bindings_; }
  void hang_events() { events_hang_ = true; }
  /// "REASON KIND/NAME: MESSAGE" of the Events that arrived.
  [[nodiscard]] std::vector<std::string> told() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> out;
    for (const json& each : told_) {
      const json& about = each["involvedObject"];
      out.push_back(each["reason"].get<std::string>() + " " + about["kind"].get<std::string>() +
                    "/" + about["name"].get<std::string>() + ": " +
                    each["message"].get<std::string>());
    }
    return out;
  }
  [[nodiscard]] int64_t version() const { return version_; }
  void set_version(int64_t version) {
    const std::scoped_lock lock(mutex_);
    version_ = version;
  }

 private:
  struct Logged {
    std::string path;
    int64_t version;
    std::string line;
  };

  bool is_faulty(const httplib::Request& request, httplib::Response& response) {
    return fault_ && fault_(request, response);
  }
  void put(const std::string& path, std::map<std::string, json>& all, const std::string& name,
           json object) {
    object["metadata"]["resourceVersion"] = std::to_string(version_ + 1);
    const bool is_new = !all.contains(name);
    all[name] = object;
    log(path, is_new ? "ADDED" : "MODIFIED", std::move(object));
  }
  void log(const std::string& path, const char* type, json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    log_.push_back({path, version_, json{{"type", type}, {"object", object}}.dump() + "\n"});
    changed_.notify_all();
  }
  void serve(const httplib::Request& request, httplib::Response& response) {
    const std::scoped_lock lock(mutex_);
    if (is_faulty(request, response)) return;
    if (request.has_param("watch")) return watch(request, response);
    const std::map<std::string, json>& all = request.path == "/api/v1/nodes"  ? nodes_
                                             : request.path == "/api/v1/pods" ? pods_
                                                                              : jobs_;
    const auto limit = std::stoul(request.get_param_value("limit"));
    const std::string after = request.get_param_value("continue");
    json items = json::array();
    std::string next;
    for (const auto& [name, object] : all) {
      if (!after.empty() && name <= after) continue;
      if (items.size() == limit) {
        next = items.back()["metadata"]["name"];
        break;
      }
      items.push_back(object);
    }
    const json meta{{"resourceVersion", std::to_string(version_)}, {"continue", next}};
    response.set_content(json{{"metadata", meta}, {"items", items}}.dump(), "application/json");
  }
  void watch(const httplib::Request& request, httplib::Response& response) {
    auto since = std::make_shared<int64_t>(std::stoll(request.get_param_value("resourceVersion")));
    const int epoch = epoch_;
    response.set_chunked_content_provider(
        "application/json",
        [this, since, epoch, path = request.path](size_t, httplib::DataSink& sink) {
          std::string text;
          {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, std::chrono::milliseconds(20));
            if (ending_) return false;
            for (const Logged& each : log_) {
              if (muted_ || each.path != path || each.version <= *since) continue;
              text += each.line;
              *since = each.version;
            }
            if (epoch_ != epoch) text += last_words_;
          }
          if (!text.empty() && !sink.write(text.data(), text.size())) return false;
          if (epoch_ != epoch) sink.done();
          return sink.is_writable();
        });
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, json> nodes_, pods_, jobs_;
  std::deque<Logged> log_;
  Fault fault_;
  std::string last_words_;
  std::atomic<int> epoch_{0};
  std::atomic<int> bindings_{0};
  std::atomic<int64_t> version_{100};
  std::vector<json> told_;
  std::atomic<bool> events_hang_{false};
  bool muted_ = false;
  std::atomic<bool> ending_{false};
};

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
  EXPECT_EQ(engine.problem(), "");
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
