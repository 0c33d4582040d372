// Requests to an API server: one at a time, over TLS, with bounded answers.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/http/http_client.hpp"
#include "live/engine/kubernetes/access.hpp"

namespace goban::live::engine::kubernetes {

inline constexpr int kApiNotFound = 404;
inline constexpr int kApiConflict = 409;

/// The credentials of a daemon, shared by its connections. Thread-safe.
class Credentials {
 public:
  explicit Credentials(Access access, double requests_s = 0)
      : access_(std::move(access)), requests_s_(requests_s) {}
  [[nodiscard]] const Access& access() const { return access_; }
  /// The token to send now; empty: none. A file or plug-in is asked again after a minute, or at
  /// once if `refused` is the token that was given last.
  [[nodiscard]] std::string token(const std::string& refused = {});
  /// Waits until one more request may be sent: so many a second, in bursts of a second. Ends early
  /// when `ending` becomes true.
  void take_turn(const std::atomic<bool>& ending);

 private:
  Access access_;
  std::mutex mutex_;
  std::string token_;
  double asked_s_ = -1;
  double requests_s_;  ///< a second; 0 = without a bound
  double next_s_ = 0;
};

struct ApiAnswer {
  int status = 0;         ///< 0: none came
  bool unknown = false;   ///< a write may or may not have been carried out
  std::string body{};     ///< of 2xx
  std::string problem{};  ///< empty: carried out; without secrets
  double retry_after_s = 0;
  [[nodiscard]] bool fine() const { return problem.empty(); }
};

/// The server understood the request and refuses it, for want of rights or by an admission policy.
[[nodiscard]] bool is_refusal(const ApiAnswer& answer);
/// What the server said of a request, with what an administrator can do about it.
[[nodiscard]] std::string with_remedy(std::string problem);
/// "PATCH pods/status" of a request's path.
[[nodiscard]] std::string kind_of_request(std::string_view method, std::string_view path);

/// One connection. Not thread-safe.
class Api {
 public:
  /// `ending`: a call ends when it becomes true.
  Api(std::shared_ptr<Credentials> credentials, const std::atomic<bool>& ending, double timeout_s)
      : credentials_(std::move(credentials)), ending_(&ending), timeout_s_(timeout_s) {}

  [[nodiscard]] ApiAnswer get(const std::string& path);
  /// Where the server asks for patience (429), it is asked again later, some times.
  [[nodiscard]] ApiAnswer write(const std::string& method, const std::string& path,
                                std::string body);
  /// A response without end, in pieces. Ends after `silence_s` without one.
  [[nodiscard]] ApiAnswer stream(const std::string& path,
                                 const std::function<bool(std::string_view)>& take,
                                 double silence_s);

 private:
  [[nodiscard]] base::http::HttpCall call_of(const std::string& method, const std::string& path,
                                             const std::string& token) const;
  [[nodiscard]] ApiAnswer once(base::http::HttpCall call);

  std::shared_ptr<Credentials> credentials_;
  const std::atomic<bool>* ending_;
  double timeout_s_;
  base::http::HttpClient client_;
};

}  // namespace goban::live::engine::kubernetes
