// Requests over HTTP by libcurl: over TCP, TLS or a Unix socket, with time-outs and answers of
// bounded size, as a whole or as they come.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goban::base::http {

/// Why there was no whole answer.
enum class HttpFailure : uint8_t {
  None,
  NotConnected,  ///< nobody listens there
  TimedOut,
  Untrusted,  ///< the server's certificate
  TooLarge,   ///< over HttpCall::bytes_max
  CutOff,     ///< the connection ended before the answer did
  Stopped,    ///< by HttpCall::take or HttpCall::keeps_on
  Other,
};

struct HttpCall {
  std::string method = "GET";
  std::string url{};
  std::string unix_socket{};           ///< path; the URL's host is then only a name
  std::vector<std::string> headers{};  ///< "Name: value"
  std::string body{};                  ///< of POST, PUT, PATCH
  std::string ca_file{};  ///< PEM file that signs the server's certificate; empty = the system's
  double connect_s = 10;
  double timeout_s = 60;  ///< of the whole answer; 0 = none
  size_t bytes_max = size_t{256} << 20;
  bool follows_redirects = false;
  /// Takes names and passwords from ~/.netrc, and a proxy from the environment.
  bool uses_environment = false;
  /// Gets the body of a 2xx answer piece by piece instead of HttpAnswer::body. False stops.
  std::function<bool(std::string_view)> take{};
  /// Asked about once a second while the call lasts. False stops.
  std::function<bool()> keeps_on{};
};

struct HttpAnswer {
  int status = 0;  ///< of its first line, even if the rest did not arrive; 0: there was none
  HttpFailure failure = HttpFailure::None;  ///< why no complete answer came
  std::string body{};
  std::string problem{};      ///< "timed out after 60 s", "Could not resolve host: x", ...
  int64_t retry_after_s = 0;  ///< as the server asks; 0 = it did not
  [[nodiscard]] bool fine() const {
    return failure == HttpFailure::None && status >= 200 && status < 300;
  }
};

/// One connection, kept open between calls. One thread; make another client for another thread.
class HttpClient {
 public:
  HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// Never fails otherwise than in the answer.
  [[nodiscard]] HttpAnswer send(const HttpCall& call);
  /// A header of the last answer; empty: it had none of this name.
  [[nodiscard]] std::string last_header(const char* name) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// `send` again after failures that may pass (no connection, time-out, 429, 5xx), up to `retries`
/// times, after a pause that doubles each time; not after Stopped.
struct HttpRetries {
  uint32_t retries = 3;
  double pause_s = 0.5;
};
[[nodiscard]] HttpAnswer send_with_retries(HttpClient& client, const HttpCall& call,
                                           const HttpRetries& retries,
                                           uint32_t* attempts = nullptr);

/// `text` as part of a path, query or form: all but letters, digits and -._~ as %XX.
[[nodiscard]] std::string url_part(std::string_view text);
/// "a=1&b=x%20y".
[[nodiscard]] std::string form_text(const std::vector<std::pair<std::string, std::string>>& fields);
/// An address without the password in it, for messages.
[[nodiscard]] std::string without_password(const std::string& url);

}  // namespace goban::base::http
