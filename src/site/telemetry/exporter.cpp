#include "site/telemetry/exporter.hpp"

#include <arpa/inet.h>
#include <array>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/http/http_server.hpp"
#include "base/number.hpp"

namespace goban::site::telemetry {

using base::http::HttpServer;
using base::http::Request;
using base::http::Response;

namespace {

/// The first IP address of a host name; the argument itself if it is an address or has none.
std::string address_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return host;
  constexpr socklen_t kTextMax = 64;
  std::array<char, kTextMax> text{};
  const int problem = ::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), kTextMax,
                                    nullptr, 0, NI_NUMERICHOST);
  ::freeaddrinfo(found);
  return problem == 0 ? std::string(text.data()) : host;
}

Response answer(const Request& request, const std::function<std::string()>& page) {
  Response response{.content_type = "text/plain; version=0.0.4; charset=utf-8"};
  if (request.method != "GET") {
    response.status = base::http::kMethodNotAllowed;
  } else if (request.path == "/metrics") {
    response.body = page();
  } else if (request.path == "/") {
    response.content_type = "text/html";
    response.body = "<a href=\"/metrics\">goban: GPU metrics</a>\n";
  } else {
    response.status = base::http::kNotFound;
  }
  return response;
}

}  // namespace

struct Exporter::Server {
  uint16_t port = 0;
  std::unique_ptr<HttpServer> http;
};

Exporter::Exporter(std::unique_ptr<Server> server) : server_(std::move(server)) {}
Exporter::Exporter(Exporter&&) noexcept = default;
Exporter& Exporter::operator=(Exporter&&) noexcept = default;
Exporter::~Exporter() = default;

int Exporter::port() const { return server_->port; }

base::Result<Exporter> Exporter::start(const std::string& host, int port,
                                       std::function<std::string()> page) {
  constexpr base::http::HttpLimits kLimits{
      .body_bytes_max = 4096, .connections_max = 64, .idle_s = 5, .workers = 4, .waiting_max = 64};
  auto socket = base::http::ListenSocket::tcp_at(address_of(host), static_cast<uint16_t>(port));
  if (!socket) {
    return base::failed(fmt::format("cannot listen on {}:{}", host, port),
                        "check that no other exporter uses it, or set another port with --listen");
  }
  auto server = std::make_unique<Server>();
  server->port = socket->port();
  std::vector<base::http::ListenSocket> sockets;
  sockets.push_back(std::move(*socket));
  auto http = HttpServer::start(
      std::move(sockets), {}, kLimits,
      [page = std::move(page)](const Request& request) { return answer(request, page); }, [] {});
  if (!http) return base::failure(http.error());
  server->http = std::move(*http);
  return Exporter(std::move(server));
}

base::Result<std::pair<std::string, int>> parse_listen(const std::string& text) {
  constexpr int64_t kPortMax = 65535;
  const size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : base::parse_int(text.substr(colon + 1));
  if (!port || *port < 0 || *port > kPortMax) {
    return base::usage_error(fmt::format("'{}' is not an ADDRESS:PORT", text),
                             "such as 127.0.0.1:9417, or :9417 for all addresses");
  }
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "0.0.0.0";
  return std::pair{host, static_cast<int>(*port)};
}

}  // namespace goban::site::telemetry
