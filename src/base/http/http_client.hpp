// HTTP client (libcurl): requests over TCP, TLS or a Unix socket, with time-outs and a maximum
// response size. Responses are returned complete or streamed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goban::base::http {

/// Why there is no complete response.
enum class HttpFailure : uint8_t {
  None,
  NotConnected,  ///< connection refused or host unreachable
  TimedOut,
  Untrusted,  ///< the server's certificate is not trusted
  TooLarge,   ///< over HttpCall::bytes_max
  CutOff,     ///< the connection closed before the end of the response, or before any
  Stopped,    ///< by HttpCall::take or HttpCall::keeps_on
  Other,
};

struct HttpCall {
  std::string method = "GET";
  std::string url{};
  std::string unix_socket{};           ///< path; the URL's host is then sent, but not resolved
  std::vector<std::string> headers{};  ///< "Name: value"
  std::string body{};                  ///< of POST, PUT, PATCH, DELETE
  std::string ca_file{};  ///< PEM file of the CA of the server's certificate; empty = the system's
  std::string ca_text{};  ///< the same as PEM text; it goes first
  std::string certificate_text{};  ///< PEM: this client's own; empty = none
  std::string key_text{};          ///< PEM: its key
  double connect_s = 10;
  double timeout_s = 60;  ///< for the complete response; 0 = none
  size_t bytes_max = size_t{256} << 20;
  bool follows_redirects = false;
  /// Uses ~/.netrc, and the proxy of the environment.
  bool uses_environment = false;
  /// Receives the body of a 2xx response in pieces, instead of HttpAnswer::body. Return false to
  /// stop.
  std::function<bool(std::string_view)> take{};
  /// Called about once per second during the call. Return false to stop.
  std::function<bool()> keeps_on{};
};

struct HttpAnswer {
  int status = 0;  ///< from the status line, even if the response is incomplete; 0: no status line
  HttpFailure failure = HttpFailure::None;  ///< why the response is incomplete
  std::string body{};
  std::string problem{};      ///< "timed out after 60 s", "Could not resolve host: x", ...
  int64_t retry_after_s = 0;  ///< the header Retry-After; 0 = absent
  [[nodiscard]] bool fine() const {
    return failure == HttpFailure::None && status >= 200 && status < 300;
  }
};

/// One connection, kept open between calls. Not thread-safe: use one client per thread.
class HttpClient {
 public:
  HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// Sends a request. Errors are reported in the result.
  [[nodiscard]] HttpAnswer send(const HttpCall& call);
  /// A header of the last response; empty if absent.
  [[nodiscard]] std::string last_header(const char* name) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// Repeats `send` after transient failures (no connection, time-out, 429, 5xx) up to `retries`
/// times, after a pause that doubles each time. Not after Stopped.
struct HttpRetries {
  uint32_t retries = 3;
  double pause_s = 0.5;
};
[[nodiscard]] HttpAnswer send_with_retries(HttpClient& client, const HttpCall& call,
                                           const HttpRetries& retries,
                                           uint32_t* attempts = nullptr);

/// `text` percent-encoded for a path, query or form: all but letters, digits and -._~ as %XX.
[[nodiscard]] std::string url_part(std::string_view text);
/// "a=1&b=x%20y".
[[nodiscard]] std::string form_text(const std::vector<std::pair<std::string, std::string>>& fields);
/// A URL without its password, for messages.
[[nodiscard]] std::string without_password(const std::string& url);

}  // namespace goban::base::http
