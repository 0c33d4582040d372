#include "base/http/http_client.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <curl/curl.h>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

namespace goban::base::http {
namespace {

constexpr double kMillis = 1000;
constexpr int kFine = 200;
constexpr int kRedirect = 300;
constexpr int kTooManyRequests = 429;
constexpr int kServerErrors = 500;
constexpr long kRedirectsMax = 5;

/// A call while libcurl carries it out.
struct Transfer {
  const HttpCall& call;
  CURL* curl = nullptr;
  HttpAnswer answer{};
};

long status_of(CURL* curl) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

size_t take_bytes(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const size_t bytes = size * count;
  HttpAnswer& answer = transfer.answer;
  if (transfer.call.take) {
    const long status = status_of(transfer.curl);
    if (status >= kFine && status < kRedirect) {
      if (transfer.call.take({data, bytes})) return bytes;
      answer.failure = HttpFailure::Stopped;
      return 0;
    }
  }
  if (answer.body.size() + bytes > transfer.call.bytes_max) {
    answer.failure = HttpFailure::TooLarge;
    return 0;
  }
  answer.body.append(data, bytes);
  return bytes;
}

int look_around(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (transfer.call.keeps_on()) return 0;
  transfer.answer.failure = HttpFailure::Stopped;
  return 1;
}

HttpFailure failure_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
      return HttpFailure::NotConnected;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpFailure::TimedOut;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return HttpFailure::Untrusted;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
      return HttpFailure::CutOff;
    default:
      return HttpFailure::Other;
  }
}

std::string problem_of(HttpFailure failure, CURLcode code, const HttpCall& call,
                       const std::string& text) {
  switch (failure) {
    case HttpFailure::TooLarge:
      return fmt::format("the response is larger than {} bytes", call.bytes_max);
    case HttpFailure::TimedOut:
      return fmt::format("timed out after {:g} s", call.timeout_s);
    case HttpFailure::CutOff:
      return "the connection closed before the end of the response";
    case HttpFailure::Stopped:
      return "stopped";
    default:
      return text.front() != '\0' ? text.c_str() : curl_easy_strerror(code);
  }
}

bool may_pass(const HttpAnswer& answer) {
  if (answer.failure != HttpFailure::None) return answer.failure != HttpFailure::Stopped;
  return answer.status == kTooManyRequests || answer.status >= kServerErrors;
}

void set_body(CURL* curl, const HttpCall& call) {
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (call.method == "GET" || (call.method == "DELETE" && call.body.empty())) return;
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.data());
}

/// The text must outlive the call.
void set_text(CURL* curl, CURLoption option, const std::string& text) {
  if (text.empty()) return;
  curl_blob blob{.data = const_cast<char*>(text.data()), .len = text.size(), .flags = 0};
  curl_easy_setopt(curl, option, &blob);
}

/// The certificates that the system trusts: $SSL_CERT_FILE, else where distributions keep them,
/// since libcurl knows only the place of the one that it was built for. Null: none of these.
const char* trusted_certificates() {
  constexpr std::array kPlaces = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
      "/etc/ssl/ca-bundle.pem",              // SUSE
  };
  const char* const chosen = std::getenv("SSL_CERT_FILE");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const auto* const found = std::ranges::find_if(kPlaces, [](const char* path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  });
  return found == kPlaces.end() ? nullptr : *found;
}

void set_route(CURL* curl, const HttpCall& call) {
  curl_easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  if (!call.unix_socket.empty()) {
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, call.unix_socket.c_str());
  }
  if (call.uses_environment) {
    curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  } else {
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
  }
  if (!call.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, call.ca_file.c_str());
  } else if (!call.ca_text.empty()) {
    set_text(curl, CURLOPT_CAINFO_BLOB, call.ca_text);
  } else if (const char* const trusted = trusted_certificates(); trusted != nullptr) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, trusted);
  }
  set_text(curl, CURLOPT_SSLCERT_BLOB, call.certificate_text);
  set_text(curl, CURLOPT_SSLKEY_BLOB, call.key_text);
  if (call.follows_redirects) {
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kRedirectsMax);
    curl_easy_setopt(curl, CURLOPT_POSTREDIR, static_cast<long>(CURL_REDIR_POST_ALL));
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, nullptr);
  }
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = nullptr;
  Handle() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started == CURLE_OK) curl = curl_easy_init();
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }
};

HttpClient::HttpClient() : handle_(std::make_unique<Handle>()) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::send(const HttpCall& call) {
  CURL* const curl = handle_->curl;
  if (curl == nullptr) {
    return {.failure = HttpFailure::Other, .problem = "cannot initialise libcurl"};
  }
  Transfer transfer{.call = call, .curl = curl};
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");
  for (const std::string& header : call.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  std::string text(CURL_ERROR_SIZE, '\0');
  curl_easy_reset(curl);
  set_body(curl, call);
  set_route(curl, call);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, text.data());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "goban");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(call.connect_s * kMillis));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout_s * kMillis));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  if (call.keeps_on) {
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  }
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  curl_slist_free_all(headers);
  HttpAnswer& answer = transfer.answer;
  answer.status = static_cast<int>(status_of(curl));
  if (code == CURLE_OK) {
    curl_off_t wait_s = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s);
    answer.retry_after_s = wait_s;
  } else {
    if (answer.failure == HttpFailure::None) answer.failure = failure_of(code);
    answer.problem = problem_of(answer.failure, code, call, text);
  }
  return std::move(answer);
}

std::string HttpClient::last_header(const char* name) const {
  curl_header* found = nullptr;
  const bool there =
      handle_->curl != nullptr &&
      curl_easy_header(handle_->curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
  return there ? found->value : std::string{};
}

HttpAnswer send_with_retries(HttpClient& client, const HttpCall& call, const HttpRetries& retries,
                             uint32_t* attempts) {
  double pause_s = retries.pause_s;
  for (uint32_t tried = 0;; ++tried) {
    HttpAnswer answer = client.send(call);
    if (attempts != nullptr) *attempts = tried + 1;
    const bool stopped = call.keeps_on && !call.keeps_on();
    if (stopped || !may_pass(answer) || tried >= retries.retries) return answer;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    pause_s *= 2;
  }
}

std::string url_part(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string form_text(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out += name + "=" + url_part(value);
  }
  return out;
}

std::string without_password(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const size_t host = scheme + 3;
  const size_t end = std::min(url.find_first_of("/?#", host), url.size());
  const size_t at = url.rfind('@', end);
  if (at == std::string::npos || at < host) return url;
  return url.substr(0, host) + url.substr(at + 1);
}

}  // namespace goban::base::http
