#include "live/engine/kubernetes/test_api_server.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <httplib.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

namespace goban::live::engine::kubernetes {

void TestApiServer::refuse(httplib::Response& response, int status) {
  response.status = status;
  response.set_content(json{{"kind", "Status"}, {"message", "refused"}}.dump(), "application/json");
}

/// All of it. Objects are as JSON says; a list has all of them, a watch all later changes.
class TestApiServer::Server {
 public:
  /// With paths of a certificate and a key it speaks TLS, on 127.0.0.1 too.
  explicit Server(const std::string& certificate = {}, const std::string& key = {})
      : made_(make(certificate, key)), server_(*made_), is_tls_(!certificate.empty()) {
    server_.Get("/version", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(R"({"major": "1", "minor": "34"})", "application/json");
    });
    serve_lease();
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
    server_.Delete(R"(/api/v1/namespaces/ml/pods/([^/]+))",
                   [this](const httplib::Request& request, httplib::Response& response) {
                     const std::scoped_lock lock(mutex_);
                     if (is_faulty(request, response)) return;
                     remove(request, response);
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
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response&) {
      const std::scoped_lock lock(mutex_);
      if (hears_) hears_(request.method, request.path);
      return httplib::Server::HandlerResponse::Unhandled;
    });
    constexpr size_t kConnectionsMost = 48;
    constexpr size_t kRequestsMost = 1'000'000;  // of a connection: more than there are
    server_.new_task_queue = [] { return new httplib::ThreadPool(kConnectionsMost); };
    server_.set_keep_alive_max_count(kRequestsMost);
    server_.set_tcp_nodelay(true);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Server() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    server_.stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string url() const {
    return (is_tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  /// Called with each request, and with the name of each pod that gets a node; with the server
  /// locked.
  void set_ears(Hears hears, std::function<void(const std::string&)> binds) {
    const std::scoped_lock lock(mutex_);
    hears_ = std::move(hears);
    binds_ = std::move(binds);
  }
  /// Bytes of lists and watches that were sent.
  [[nodiscard]] int64_t bytes() const { return bytes_; }
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
  /// A node or pod as it is given; one of the same name is changed.
  void put_node(const json& node) {
    const std::scoped_lock lock(mutex_);
    put("/api/v1/nodes", nodes_, node["metadata"]["name"], node);
  }
  void put_pod(const json& pod) {
    const std::scoped_lock lock(mutex_);
    put("/api/v1/pods", pods_, pod["metadata"]["name"], pod);
  }
  void add_node(const std::string& name, const std::string& is_ready) {
    const std::scoped_lock lock(mutex_);
    json node = json::parse(R"({"metadata": {"labels": {"goban.dev/managed": "true"}},
      "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"},
                 "conditions": [{"type": "Ready"}]}})");
    node["metadata"]["name"] = node["metadata"]["uid"] = name;
    node["status"]["conditions"][0]["status"] = is_ready;
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
    if (binds_) binds_(request.matches[1]);
    response.status = 201;
    response.set_content("{}", "application/json");
  }
  [[nodiscard]] int bindings() const { return bindings_; }
  [[nodiscard]] int removals() const { return removals_; }
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
  /// At once; without a kubelet nothing else would end it.
  void remove(const httplib::Request& request, httplib::Response& response) {
    const json body = json::parse(request.body);
    const auto pod = pods_.find(request.matches[1]);
    if (pod == pods_.end()) return refuse(response, 404);
    if (body["preconditions"]["uid"] != pod->second["metadata"]["uid"]) {
      return refuse(response, 409);
    }
    const json removed = pod->second;
    pods_.erase(pod);
    ++removals_;
    log("/api/v1/pods", "DELETED", removed);
    response.set_content("{}", "application/json");
  }
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
    std::string text = json{{"metadata", meta}, {"items", std::move(items)}}.dump();
    bytes_ += static_cast<int64_t>(text.size());
    response.set_content(std::move(text), "application/json");
  }
  void watch(const httplib::Request& request, httplib::Response& response) {
    auto since = std::make_shared<int64_t>(std::stoll(request.get_param_value("resourceVersion")));
    auto next = std::make_shared<size_t>(0);  // of the log
    const int epoch = epoch_;
    response.set_chunked_content_provider(
        "application/json",
        [this, since, next, epoch, path = request.path](size_t, httplib::DataSink& sink) {
          std::string text;
          {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, std::chrono::milliseconds(20));
            if (ending_) return false;
            for (; !muted_ && *next < log_.size(); ++*next) {
              const Logged& each = log_[*next];
              if (each.path != path || each.version <= *since) continue;
              text += each.line;
              *since = each.version;
            }
            if (epoch_ != epoch) text += last_words_;
          }
          bytes_ += static_cast<int64_t>(text.size());
          if (!text.empty() && !sink.write(text.data(), text.size())) return false;
          if (epoch_ != epoch) sink.done();
          return sink.is_writable();
        });
  }

  static std::unique_ptr<httplib::Server> make(const std::string& certificate,
                                               const std::string& key) {
    if (certificate.empty()) return std::make_unique<httplib::Server>();
    return std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str());
  }
  /// One, of any name.
  void serve_lease() {
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      const std::scoped_lock lock(mutex_);
      if (request.method == "GET" && lease_.empty()) return refuse(response, 404);
      if (request.method != "GET") {
        lease_ = json::parse(request.body);
        lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
      }
      response.set_content(lease_.dump(), "application/json");
    };
    const char* all = R"(/apis/coordination\.k8s\.io/v1/namespaces/[^/]+/leases.*)";
    server_.Get(all, answer);
    server_.Post(all, answer);
    server_.Put(all, answer);
  }

  std::unique_ptr<httplib::Server> made_;
  httplib::Server& server_;
  bool is_tls_ = false;
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
  std::atomic<int> removals_{0};
  std::atomic<int64_t> version_{100};
  std::vector<json> told_;
  json lease_;
  Hears hears_;
  std::function<void(const std::string&)> binds_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<bool> events_hang_{false};
  bool muted_ = false;
  std::atomic<bool> ending_{false};
};

TestApiServer::TestApiServer(const std::string& certificate, const std::string& key)
    : server_(std::make_unique<Server>(certificate, key)) {}

TestApiServer::~TestApiServer() = default;

std::string TestApiServer::url() const { return server_->url(); }

void TestApiServer::set_fault(Fault fault) { server_->set_fault(std::move(fault)); }

void TestApiServer::mute(bool muted) { server_->mute(muted); }

void TestApiServer::say_to_all(const std::string& line) { server_->say_to_all(line); }

void TestApiServer::set_ears(Hears hears, std::function<void(const std::string&)> binds) {
  server_->set_ears(std::move(hears), std::move(binds));
}

int64_t TestApiServer::bytes() const { return server_->bytes(); }

void TestApiServer::put_node(const json& node) { server_->put_node(node); }

void TestApiServer::put_pod(const json& pod) { server_->put_pod(pod); }

void TestApiServer::add_node(const std::string& name) { server_->add_node(name, "True"); }

void TestApiServer::silence_node(const std::string& name) { server_->add_node(name, "Unknown"); }

void TestApiServer::add_pod(const std::string& name, const std::string& gpus) {
  server_->add_pod(name, gpus);
}

void TestApiServer::change_pod(const std::string& name, const std::function<void(json&)>& change) {
  server_->change_pod(name, change);
}

void TestApiServer::remove_pod(const std::string& name) { server_->remove_pod(name); }

void TestApiServer::bind(const httplib::Request& request, httplib::Response& response) {
  server_->bind(request, response);
}

int TestApiServer::bindings() const { return server_->bindings(); }

int TestApiServer::removals() const { return server_->removals(); }

void TestApiServer::hang_events() { server_->hang_events(); }

std::vector<std::string> TestApiServer::told() { return server_->told(); }

int64_t TestApiServer::version() const { return server_->version(); }

void TestApiServer::set_version(int64_t version) { server_->set_version(version); }

}  // namespace goban::live::engine::kubernetes
