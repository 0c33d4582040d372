#include "site/telemetry/exporter.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <thread>

#include "base/number.hpp"

namespace goban::site::telemetry {

struct Exporter::Server {
  httplib::Server http;
  std::function<std::string()> page;
  std::thread thread;
  int port = 0;

  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    http.stop();
    if (thread.joinable()) thread.join();
  }
};

Exporter::Exporter(std::unique_ptr<Server> server) : server_(std::move(server)) {}
Exporter::Exporter(Exporter&&) noexcept = default;
Exporter& Exporter::operator=(Exporter&&) noexcept = default;
Exporter::~Exporter() = default;

int Exporter::port() const { return server_->port; }

base::Result<Exporter> Exporter::start(const std::string& host, int port,
                                       std::function<std::string()> page) {
  constexpr size_t kThreads = 4;
  constexpr size_t kRequestBytesMax = 4096;
  constexpr time_t kPatience_s = 5;
  auto server = std::make_unique<Server>();
  server->page = std::move(page);
  server->http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server->http.set_payload_max_length(kRequestBytesMax);
  server->http.set_read_timeout(kPatience_s);
  server->http.set_write_timeout(kPatience_s);
  Server* const raw = server.get();
  server->http.Get("/metrics", [raw](const httplib::Request&, httplib::Response& response) {
    response.set_content(raw->page(), "text/plain; version=0.0.4; charset=utf-8");
  });
  server->http.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("<a href=\"/metrics\">goban: GPU metrics</a>\n", "text/html");
  });
  // SO_REUSEPORT, the library's own choice, would let two exporters share a port unnoticed.
  server->http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (port == 0) {
    server->port = server->http.bind_to_any_port(host);
  } else if (server->http.bind_to_port(host, port)) {
    server->port = port;
  }
  if (server->port <= 0) {
    return base::failed(fmt::format("cannot listen on {}:{}", host, port),
                        "is another exporter running there? --listen names another port");
  }
  server->thread = std::thread([raw] { raw->http.listen_after_bind(); });
  // stop() before the loop runs would be lost.
  while (!raw->http.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Exporter(std::move(server));
}

base::Result<std::pair<std::string, int>> parse_listen(const std::string& text) {
  constexpr int64_t kPortMax = 65535;
  const size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : base::parse_int(text.substr(colon + 1));
  if (!port || *port < 0 || *port > kPortMax) {
    return base::usage_error(fmt::format("'{}' is no ADDRESS:PORT", text),
                             "such as 127.0.0.1:9417, or :9417 for all addresses");
  }
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "0.0.0.0";
  return std::pair{host, static_cast<int>(*port)};
}

}  // namespace goban::site::telemetry
