// For tests: an API server that keeps nodes, pods and Jobs in memory, and does on demand what a
// real one seldom does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace httplib {
struct Request;
struct Response;
}  // namespace httplib

namespace goban::live::engine::kubernetes {

class TestApiServer {
 public:
  using json = nlohmann::json;
  /// Answers instead of the server if it returns true. Called with the server locked.
  using Fault = std::function<bool(const httplib::Request&, httplib::Response&)>;
  using Hears = std::function<void(const std::string& method, const std::string& path)>;

  /// With paths of a certificate and a key it speaks TLS.
  explicit TestApiServer(const std::string& certificate = {}, const std::string& key = {});
  ~TestApiServer();
  TestApiServer(const TestApiServer&) = delete;
  TestApiServer& operator=(const TestApiServer&) = delete;

  [[nodiscard]] std::string url() const;
  void set_fault(Fault fault);
  /// No watch hears of a change while this is so.
  void mute(bool muted);
  /// All streams end with this line.
  void say_to_all(const std::string& line);
  /// Called with each request, and with the name of each pod that gets a node; with the server
  /// locked.
  void set_ears(Hears hears, std::function<void(const std::string&)> binds);
  /// Bytes of lists and watches that were sent.
  [[nodiscard]] int64_t bytes() const;
  /// A node or a pod of the namespace `ml` as it is given; one of the same name is changed.
  void put_node(const json& node);
  void put_pod(const json& pod);
  /// A node of four GPUs, a pod that waits for Goban.
  void add_node(const std::string& name);
  /// The same node when its kubelet does not answer.
  void silence_node(const std::string& name);
  void add_pod(const std::string& name, const std::string& gpus = "1");
  void change_pod(const std::string& name, const std::function<void(json&)>& change);
  void remove_pod(const std::string& name);
  /// Binds as the server does; for faults that answer otherwise. Locked by the caller.
  void bind(const httplib::Request& request, httplib::Response& response);
  static void refuse(httplib::Response& response, int status);
  [[nodiscard]] int bindings() const;
  /// Pods that were deleted by requests.
  [[nodiscard]] int removals() const;
  void hang_events();
  /// "REASON KIND/NAME: MESSAGE" of the Events that arrived.
  [[nodiscard]] std::vector<std::string> told();
  [[nodiscard]] int64_t version() const;
  void set_version(int64_t version);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace goban::live::engine::kubernetes
