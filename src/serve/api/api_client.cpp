#include "serve/api/api_client.hpp"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/http/http_client.hpp"
#include "base/http/http_message.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"
#include "serve/api/ssh_tunnel.hpp"

namespace goban::serve::api {

using base::http::HttpAnswer;
using base::http::HttpFailure;

namespace {
constexpr size_t kTokenFileBytesMax = 4096;
constexpr int64_t kBusyMax_s = 60;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

bool is_loopback(std::string_view url) {
  for (const std::string_view host : {"http://127.", "http://localhost", "http://[::1]"}) {
    if (!url.starts_with(host)) continue;
    const std::string_view rest = url.substr(host.size());
    if (host.ends_with('.')) return rest.find_first_not_of("0123456789.:/") == std::string::npos;
    return rest.empty() || rest.front() == ':' || rest.front() == '/';
  }
  return false;
}

base::Result<ServerAddress> server_at_url(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const bool encrypted = url.starts_with("https://");
  if (!encrypted && !is_loopback(url)) {
    return base::usage_error(
        fmt::format("{}: unencrypted connections are permitted only to this machine", url),
        "use https://HOST:PORT, http://127.0.0.1:PORT, or the path of the daemon's socket");
  }
  ServerAddress server{.url = std::move(url), .ca_file = environment("GOBAN_CA_FILE")};
  server.token = std::string(base::trimmed(environment("GOBAN_TOKEN")));
  const std::string file = environment("GOBAN_TOKEN_FILE");
  if (server.token.empty() && !file.empty()) {
    base::Result<std::string> text = base::read_text_file(file, kTokenFileBytesMax);
    if (!text) return base::failure(std::move(text.error()));
    server.token = std::string(base::trimmed(*text));
  }
  for (const char c : server.token) {
    if (c > ' ' && c < '\x7f') continue;
    return base::usage_error("the token contains a blank or a control character",
                             "GOBAN_TOKEN_FILE must contain only the token, on one line");
  }
  return server;
}
base::Result<ServerAddress> server_by_ssh(std::string address) {
  const auto place = parse_ssh(address);
  if (!place) return base::failure(place.error());
  auto tunnel = SshTunnel::open(*place);
  if (!tunnel) return base::failure(tunnel.error());
  ServerAddress server{.socket = (*tunnel)->socket(), .ssh = std::move(address)};
  server.tunnel = std::move(*tunnel);
  return server;
}
}  // namespace

std::string default_state_folder() {
  if (std::string given = environment("GOBAN_STATE"); !given.empty()) return given;
  if (::geteuid() == 0) return "/var/lib/goban";
  if (const std::string state = environment("XDG_STATE_HOME"); state.starts_with('/')) {
    return state + "/goban";
  }
  return environment("HOME") + "/.local/state/goban";
}

std::string server_text(const std::string& asked) {
  std::string text = asked.empty() ? environment("GOBAN_SERVER") : asked;
  if (text.empty()) text = environment("GOBAN_SOCKET");
  if (text.empty()) {
    text = default_state_folder() + "/goban.sock";
    // A state folder that the caller named is the one that is meant.
    const bool is_named = !environment("GOBAN_STATE").empty();
    if (!is_named && ::access(text.c_str(), F_OK) != 0 && ::access(kSystemSocket, F_OK) == 0) {
      text = kSystemSocket;
    }
  }
  return text;
}

base::Result<ServerAddress> find_server(const std::string& asked) {
  constexpr std::string_view kUnix = "unix:";
  std::string text = server_text(asked);
  if (is_ssh(text)) return server_by_ssh(std::move(text));
  if (text.starts_with("http://") || text.starts_with("https://")) {
    return server_at_url(std::move(text));
  }
  if (text.starts_with(kUnix)) text.erase(0, kUnix.size());
  if (text.find('/') == std::string::npos) {
    return base::usage_error(fmt::format("'{}' is not a valid server address", text),
                             "use a path such as ./goban.sock, https://HOST:PORT, or ssh://HOST");
  }
  return ServerAddress{.socket = std::move(text)};
}

namespace {

base::Error no_answer(const HttpAnswer& answer, const ServerAddress& server,
                      const std::string& name, double timeout_s) {
  base::Error error{.code = base::ErrorCode::Failed, .message = {}, .place = {}, .remedy = {}};
  switch (answer.failure) {
    case HttpFailure::NotConnected:
      error.message = fmt::format("{}: no daemon is listening", name);
      error.remedy = !server.socket.empty()
                         ? "start one with `goban serve`, or name another one with --server"
                         : "check the address, and that `goban serve` listens on TCP";
      break;
    case HttpFailure::TimedOut:
      error.message = fmt::format("{}: no response within {:g} s", name, timeout_s);
      error.remedy = "the request may have been carried out: check before repeating it";
      break;
    case HttpFailure::Untrusted:
      error.message =
          fmt::format("{}: the server's certificate is not trusted: {}", name, answer.problem);
      error.remedy = "set GOBAN_CA_FILE to the certificate that signed it";
      break;
    default:
      error.message = fmt::format("{}: {}", name, answer.problem);
      if (!server.ssh.empty()) {
        error.remedy =
            "check that a daemon listens there; name its socket: ssh://HOST/PATH/OF/THE/SOCKET";
      }
      break;
  }
  return error;
}

base::Error refusal(const HttpAnswer& answer, const std::string& name) {
  const bool is_bad_data =
      answer.status == base::http::kBadRequest || answer.status == base::http::kTooLarge;
  base::Error error{.code = is_bad_data ? base::ErrorCode::BadData : base::ErrorCode::Failed,
                    .message = {},
                    .place = {},
                    .remedy = {}};
  const auto document = nlohmann::json::parse(answer.body, nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    if (!document.is_object() || !document.contains("error")) return {};
    const auto& said = document["error"];
    if (!said.is_object() || !said.contains(key) || !said[key].is_string()) return {};
    return said[key].get<std::string>();
  };
  error.message = text("message");
  error.place.field = text("field");
  error.remedy = text("remedy");
  if (error.message.empty()) {
    error.message =
        fmt::format("{}: HTTP status {} without an error message of goban", name, answer.status);
    error.remedy = "check that the server is a goban daemon";
  }
  return error;
}

/// Waits for the time that a busy server states. Returns false if `keeps_on` ended the wait.
bool pause(int64_t wait_s, const std::function<bool()>& keeps_on) {
  constexpr auto kLook = std::chrono::milliseconds(100);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(wait_s);
  while (std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLook);
    if (keeps_on && !keeps_on()) return false;
  }
  return true;
}

}  // namespace

struct ApiClient::Connection {
  ServerAddress server{};
  std::string name{};
  base::http::HttpClient client{};
  double timeout_s = 30;
  int last_status = 0;
};

ApiClient::ApiClient(ServerAddress server) : connection_(std::make_unique<Connection>()) {
  connection_->name = server.socket.empty() ? server.url : server.socket;
  if (!server.ssh.empty()) connection_->name = server.ssh;
  connection_->server = std::move(server);
}
ApiClient::ApiClient(ApiClient&&) noexcept = default;
ApiClient& ApiClient::operator=(ApiClient&&) noexcept = default;
ApiClient::~ApiClient() = default;

base::Result<std::string> ApiClient::request(const char* method, const std::string& path,
                                             const std::string& json, const Take* take) {
  Connection& c = *connection_;
  c.last_status = 0;
  constexpr size_t kPathMax = 107;
  if (c.server.socket.size() > kPathMax) {
    return base::failed(
        fmt::format("{}: the path of a socket has at most {} bytes", c.name, kPathMax),
        "set GOBAN_SOCKET to a shorter path, such as a link");
  }
  base::http::HttpCall call{.method = method,
                            .url = (c.server.socket.empty() ? c.server.url : "http://goban") + path,
                            .unix_socket = c.server.socket,
                            .headers = {"Content-Type: application/json"},
                            .body = json,
                            .ca_file = c.server.ca_file,
                            .timeout_s = take == nullptr ? c.timeout_s : 0};
  call.uses_environment = c.server.socket.empty() && !is_loopback(c.server.url);
  if (!c.server.token.empty()) call.headers.push_back("Authorization: Bearer " + c.server.token);
  if (take != nullptr) {
    call.take = *take;
    call.keeps_on = [take] { return (*take)({}); };
  }
  for (int64_t waited_s = 0;;) {
    HttpAnswer answer = c.client.send(call);
    c.last_status = answer.status;
    waited_s += answer.retry_after_s;
    if (answer.failure == HttpFailure::Stopped) return std::string{};
    if (answer.failure != HttpFailure::None) {
      return base::failure(no_answer(answer, c.server, c.name, c.timeout_s));
    }
    if (answer.fine()) return std::move(answer.body);
    const bool busy = answer.status == base::http::kTooManyRequests && answer.retry_after_s > 0 &&
                      waited_s <= kBusyMax_s;
    if (!busy) return base::failure(refusal(answer, c.name));
    if (!pause(answer.retry_after_s, call.keeps_on)) return std::string{};
  }
}

base::Result<std::string> ApiClient::get(const std::string& path) {
  return request("GET", path, {}, nullptr);
}

base::Result<std::string> ApiClient::post(const std::string& path, const std::string& body) {
  return request("POST", path, body, nullptr);
}

base::Result<std::string> ApiClient::remove(const std::string& path) {
  return request("DELETE", path, {}, nullptr);
}

base::Status ApiClient::stream(const std::string& path, const Take& take) {
  const auto done = request("GET", path, {}, &take);
  if (!done) return base::failure(done.error());
  return {};
}

int ApiClient::last_status() const { return connection_->last_status; }

std::string ApiClient::last_header(const char* name) const {
  return connection_->client.last_header(name);
}

void ApiClient::set_timeout(double timeout_s) { connection_->timeout_s = timeout_s; }

const std::string& ApiClient::server_name() const { return connection_->name; }

}  // namespace goban::serve::api
