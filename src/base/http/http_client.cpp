#include "base/http/http_client.hpp"

#include <algorithm>
#include <chrono>
#include <curl/curl.h>
#include <fmt/format.h>
#include <thread>

namespace goban::base::http {
namespace {

/// What an answer collects while it arrives.
struct Inflow {
  std::string body;
  size_t bytes_max = 0;
  bool too_large = false;
};

size_t take_bytes(char* data, size_t size, size_t count, void* user) {
  auto& inflow = *static_cast<Inflow*>(user);
  const size_t bytes = size * count;
  if (inflow.body.size() + bytes > inflow.bytes_max) {
    inflow.too_large = true;
    return 0;
  }
  inflow.body.append(data, bytes);
  return bytes;
}

int look_for_interrupt(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* interrupted = static_cast<const std::atomic<bool>*>(user);
  return interrupted != nullptr && *interrupted ? 1 : 0;
}

bool may_pass(const HttpAnswer& answer) {
  constexpr long kTooMany = 429;
  constexpr long kServerErrors = 500;
  return answer.status == 0 || answer.status == kTooMany || answer.status >= kServerErrors;
}

std::string problem_text(CURLcode code, const Inflow& inflow, const HttpOptions& options) {
  if (inflow.too_large) return fmt::format("answer of over {} bytes", options.bytes_max);
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return fmt::format("timed out after {:g} s", options.timeout_s);
  }
  if (code == CURLE_PARTIAL_FILE) return "answer was cut off";
  return curl_easy_strerror(code);
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = nullptr;
  Handle() : curl(curl_easy_init()) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }
};

HttpClient::HttpClient(std::unique_ptr<Handle> handle, const HttpOptions& options)
    : handle_(std::move(handle)), options_(options) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

base::Result<HttpClient> HttpClient::create(const HttpOptions& options) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto handle = std::make_unique<Handle>();
  if (started != CURLE_OK || handle->curl == nullptr) {
    return base::failed("libcurl does not start");
  }
  return HttpClient(std::move(handle), options);
}

HttpAnswer HttpClient::get(const std::string& url) { return request(url, nullptr); }

HttpAnswer HttpClient::post(const std::string& url, const FormFields& form) {
  std::string text;
  for (const auto& [name, value] : form) {
    char* escaped = curl_easy_escape(handle_->curl, value.data(), static_cast<int>(value.size()));
    if (!text.empty()) text += '&';
    text += name + "=" + (escaped != nullptr ? escaped : "");
    curl_free(escaped);
  }
  return request(url, &text);
}

HttpAnswer HttpClient::request(const std::string& url, const std::string* form) {
  HttpAnswer answer;
  double pause_s = options_.pause_s;
  for (uint32_t tried = 0;; ++tried) {
    answer = attempt(url, form);
    answer.attempts = tried + 1;
    const bool stopped = options_.interrupted != nullptr && *options_.interrupted;
    if (stopped || !may_pass(answer) || tried >= options_.retries) return answer;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    pause_s *= 2;
  }
}

HttpAnswer HttpClient::attempt(const std::string& url, const std::string* form) {
  CURL* curl = handle_->curl;
  constexpr double kMillis = 1000;
  Inflow inflow{.body = {}, .bytes_max = options_.bytes_max};
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "goban");
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_POSTREDIR, static_cast<long>(CURL_REDIR_POST_ALL));
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_s * kMillis));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_s * kMillis));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &inflow);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_interrupt);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, options_.interrupted);
  if (form != nullptr) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(form->size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form->c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  HttpAnswer answer;
  if (code == CURLE_OK) {
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  } else {
    answer.problem = problem_text(code, inflow, options_);
  }
  answer.body = std::move(inflow.body);
  return answer;
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
