#include "serve/api/api_client.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <curl/curl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "base/http/http_message.hpp"
#include "base/text_file.hpp"

namespace goban::serve::api {

namespace {
constexpr long kConnect_ms = 10'000;
constexpr size_t kAnswerBytesMax = size_t{256} << 20;
constexpr size_t kTokenFileBytesMax = 4096;
constexpr long kBusyMax_s = 60;
constexpr long kFine = 200;
constexpr long kRedirect = 300;

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

std::string trimmed(std::string text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) text.pop_back();
  return text;
}

base::Result<ServerAddress> server_at_url(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const bool encrypted = url.starts_with("https://");
  if (!encrypted && !is_loopback(url)) {
    return base::usage_error(
        fmt::format("{}: unencrypted, and not on this machine", url),
        "https://HOST:PORT, or http://127.0.0.1:PORT, or the path of the daemon's socket");
  }
  ServerAddress server{.url = std::move(url), .ca_file = environment("GOBAN_CA_FILE")};
  server.token = trimmed(environment("GOBAN_TOKEN"));
  const std::string file = environment("GOBAN_TOKEN_FILE");
  if (server.token.empty() && !file.empty()) {
    base::Result<std::string> text = base::read_text_file(file, kTokenFileBytesMax);
    if (!text) return base::failure(std::move(text.error()));
    server.token = trimmed(std::move(*text));
  }
  for (const char c : server.token) {
    if (c > ' ' && c < '\x7f') continue;
    return base::usage_error("the token holds a blank or a control character",
                             "write it alone, on one line, into the file of GOBAN_TOKEN_FILE");
  }
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

base::Result<ServerAddress> find_server(const std::string& asked) {
  constexpr std::string_view kUnix = "unix:";
  std::string text = asked.empty() ? environment("GOBAN_SERVER") : asked;
  if (text.empty()) text = environment("GOBAN_SOCKET");
  if (text.empty()) {
    text = default_state_folder() + "/goban.sock";
    if (::access(text.c_str(), F_OK) != 0 && ::access(kSystemSocket, F_OK) == 0) {
      text = kSystemSocket;
    }
  }
  if (text.starts_with("http://") || text.starts_with("https://")) {
    return server_at_url(std::move(text));
  }
  if (text.starts_with(kUnix)) text.erase(0, kUnix.size());
  if (text.find('/') == std::string::npos) {
    return base::usage_error(fmt::format("'{}' names no server", text),
                             "a path such as ./goban.sock, or https://HOST:PORT");
  }
  return ServerAddress{.socket = std::move(text)};
}

std::string url_part(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       (c != '\0' && std::strchr("-._~", c) != nullptr);
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

struct ApiClient::Handle {
  ServerAddress server;
  std::string name;
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
  long timeout_ms = 30'000;
  long status = 0;
  std::string body;
  std::string problem;  ///< filled in by libcurl
  const std::function<bool(std::string_view)>* take = nullptr;
  bool stopped = false;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
  }
  base::Status request(const char* method, const std::string& path, const std::string& json);
  void configure(const char* method, const std::string& path, const std::string& json);
  void pause(curl_off_t wait_s);
  [[nodiscard]] base::Error refusal() const;
  [[nodiscard]] base::Error silence(CURLcode code) const;
};

namespace {
template <typename Handle>
size_t take_body(char* data, size_t, size_t count, void* user) {
  auto& handle = *static_cast<Handle*>(user);
  long status = 0;
  curl_easy_getinfo(handle.curl, CURLINFO_RESPONSE_CODE, &status);
  if (handle.take != nullptr && status >= kFine && status < kRedirect) {
    handle.stopped = !(*handle.take)({data, count});
    return handle.stopped ? 0 : count;
  }
  if (handle.body.size() + count > kAnswerBytesMax) return 0;
  handle.body.append(data, count);
  return count;
}

template <typename Handle>
int look_around(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& handle = *static_cast<Handle*>(user);
  if (handle.take == nullptr) return 0;
  handle.stopped = handle.stopped || !(*handle.take)({});
  return handle.stopped ? 1 : 0;
}
}  // namespace

void ApiClient::Handle::configure(const char* method, const std::string& path,
                                  const std::string& json) {
  curl_easy_reset(curl);
  problem.assign(CURL_ERROR_SIZE, '\0');
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem.data());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnect_ms);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, take == nullptr ? timeout_ms : 0L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_body<Handle>);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &look_around<Handle>);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, take == nullptr ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  if (!server.socket.empty()) {
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, server.socket.c_str());
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_URL, ("http://goban" + path).c_str());
  } else {
    if (is_loopback(server.url)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (!server.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, server.ca_file.c_str());
    curl_easy_setopt(curl, CURLOPT_URL, (server.url + path).c_str());
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  if (std::strcmp(method, "POST") == 0) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
}

base::Error ApiClient::Handle::silence(CURLcode code) const {
  const bool over_socket = !server.socket.empty();
  base::Error error{.code = base::ErrorCode::Failed, .message = {}, .place = {}, .remedy = {}};
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      error.message = fmt::format("{}: no daemon listens there", name);
      error.remedy = over_socket ? "start one with `goban serve`, or name another with --server"
                                 : "is the address right, and does `goban serve` listen on TCP?";
      break;
    case CURLE_OPERATION_TIMEDOUT:
      error.message = fmt::format("{}: no answer within {} s", name, timeout_ms / 1000);
      error.remedy = "the request may have been carried out: look before you repeat it";
      break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      error.message = fmt::format("{}: its certificate is not trusted: {}", name, problem.c_str());
      error.remedy = "GOBAN_CA_FILE names the certificate that signed it";
      break;
    default:
      error.message = fmt::format(
          "{}: {}", name, problem.front() != '\0' ? problem.c_str() : curl_easy_strerror(code));
      break;
  }
  return error;
}

base::Error ApiClient::Handle::refusal() const {
  base::Error error{.code = status == base::http::kBadRequest || status == base::http::kTooLarge
                                ? base::ErrorCode::BadData
                                : base::ErrorCode::Failed,
                    .message = {},
                    .place = {},
                    .remedy = {}};
  const auto document = nlohmann::json::parse(body, nullptr, false);
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
    error.message = fmt::format("{}: HTTP status {}, and no word of goban", name, status);
    error.remedy = "is it a goban daemon that listens there?";
  }
  return error;
}

void ApiClient::Handle::pause(curl_off_t wait_s) {
  constexpr auto kLookAround = std::chrono::milliseconds(100);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(wait_s);
  while (!stopped && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLookAround);
    stopped = take != nullptr && !(*take)({});
  }
}

base::Status ApiClient::Handle::request(const char* method, const std::string& path,
                                        const std::string& json) {
  body.clear();
  status = 0;
  stopped = false;
  if (curl == nullptr) return base::failed("libcurl cannot start");
  constexpr size_t kPathMax = 107;
  if (server.socket.size() > kPathMax) {
    return base::failed(
        fmt::format("{}: longer than the {} bytes that a socket's path may have", name, kPathMax),
        "a shorter path in GOBAN_SOCKET, such as a link");
  }
  CURLcode code = CURLE_OK;
  for (long waited_s = 0;;) {
    configure(method, path, json);
    code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_off_t wait_s = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s);
    waited_s += wait_s;
    if (stopped || code != CURLE_OK || status != base::http::kTooManyRequests) break;
    if (wait_s < 1 || waited_s > kBusyMax_s) break;
    pause(wait_s);
    if (stopped) return {};
    body.clear();
  }
  if (stopped) return {};
  if (code != CURLE_OK) return base::failure(silence(code));
  if (status < kFine || status >= kRedirect) return base::failure(refusal());
  return {};
}

ApiClient::ApiClient(ServerAddress server) : handle_(std::make_unique<Handle>()) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  handle_->name = server.socket.empty() ? server.url : server.socket;
  handle_->server = std::move(server);
  if (started == CURLE_OK) handle_->curl = curl_easy_init();
  handle_->headers = curl_slist_append(handle_->headers, "Content-Type: application/json");
  handle_->headers = curl_slist_append(handle_->headers, "Expect:");
  if (!handle_->server.token.empty()) {
    handle_->headers = curl_slist_append(
        handle_->headers, ("Authorization: Bearer " + handle_->server.token).c_str());
  }
}
ApiClient::ApiClient(ApiClient&&) noexcept = default;
ApiClient& ApiClient::operator=(ApiClient&&) noexcept = default;
ApiClient::~ApiClient() = default;

base::Result<std::string> ApiClient::get(const std::string& path) {
  if (base::Status done = handle_->request("GET", path, {}); !done) {
    return base::failure(std::move(done.error()));
  }
  return std::move(handle_->body);
}

base::Result<std::string> ApiClient::post(const std::string& path, const std::string& json) {
  if (base::Status done = handle_->request("POST", path, json); !done) {
    return base::failure(std::move(done.error()));
  }
  return std::move(handle_->body);
}

base::Result<std::string> ApiClient::remove(const std::string& path) {
  if (base::Status done = handle_->request("DELETE", path, {}); !done) {
    return base::failure(std::move(done.error()));
  }
  return std::move(handle_->body);
}

base::Status ApiClient::stream(const std::string& path,
                               const std::function<bool(std::string_view)>& take) {
  handle_->take = &take;
  base::Status done = handle_->request("GET", path, {});
  handle_->take = nullptr;
  return done;
}

int ApiClient::last_status() const { return static_cast<int>(handle_->status); }

std::string ApiClient::last_header(const char* name) const {
  curl_header* found = nullptr;
  const bool there =
      handle_->curl != nullptr &&
      curl_easy_header(handle_->curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
  return there ? found->value : std::string{};
}

void ApiClient::set_timeout(double timeout_s) {
  handle_->timeout_ms = static_cast<long>(timeout_s * 1000);
}

const std::string& ApiClient::server_name() const { return handle_->name; }

}  // namespace goban::serve::api
