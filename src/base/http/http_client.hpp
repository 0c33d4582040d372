// Requests over HTTP by libcurl: time-outs, retries, answers of bounded size.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace goban::base::http {

struct HttpOptions {
  double timeout_s = 60;  ///< of a whole answer
  double connect_s = 10;
  uint32_t retries = 3;  ///< after a failure that may pass: connection, time-out, 429, 5xx
  double pause_s = 0.5;  ///< before the first retry; doubles
  size_t bytes_max = size_t{512} << 20;
  const std::atomic<bool>* interrupted = nullptr;
};

struct HttpAnswer {
  long status = 0;  ///< 0: there was no answer, `problem` says why
  std::string body;
  std::string problem;  ///< "timed out after 60 s", "connection refused", ...
  uint32_t attempts = 0;
};

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// One connection, kept open between requests. Takes names and passwords from the address or from
/// ~/.netrc; proxies from the environment. One thread.
class HttpClient {
 public:
  /// Errors: Failed if libcurl cannot start.
  [[nodiscard]] static base::Result<HttpClient> create(const HttpOptions& options);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// POST of a form. Never fails otherwise than in the answer.
  [[nodiscard]] HttpAnswer post(const std::string& url, const FormFields& form);
  [[nodiscard]] HttpAnswer get(const std::string& url);

 private:
  struct Handle;
  explicit HttpClient(std::unique_ptr<Handle> handle, const HttpOptions& options);
  HttpAnswer request(const std::string& url, const std::string* form);
  HttpAnswer attempt(const std::string& url, const std::string* form);

  std::unique_ptr<Handle> handle_;
  HttpOptions options_;
};

/// An address without the password in it, for messages.
[[nodiscard]] std::string without_password(const std::string& url);

}  // namespace goban::base::http
