// The service of the daemon, put together: sockets, callers, limits, routes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "base/http/http_server.hpp"
#include "base/result.hpp"
#include "serve/api/api.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

/// A page without secrets that everybody may load, such as the dashboard.
struct StaticPage {
  std::string content_type{};
  std::string body{};
};

struct ServiceOptions {
  std::string socket{};          ///< path of the Unix socket; empty = none
  uint32_t socket_mode = 0600;   ///< 0666 for everybody: callers are known by their credentials
  bool replaces_socket = false;  ///< of a daemon that was taken over, and may still hold it
  std::string listen{};          ///< "ADDRESS:PORT" for TCP; empty = none. Port 0 = any
  std::string certificate_file{}, key_file{};  ///< PEM; needed unless the address is loopback
  CallerOptions callers{};
  /// Where own_token() keeps a token for the daemon's own user, if TCP listens on loopback and no
  /// tokens are configured: whoever may read that folder gets in. Empty = there is none.
  std::string own_token_folder{};
  base::http::HttpLimits limits{};
  SubmitLimits submissions{};
  double requests_per_s = 200;  ///< of each user, for good
  double requests_burst = 2000;
  bool many_users = false;  ///< jobs run as whoever submits them: the daemon is root
};

/// Reads the table [service] of the daemon's configuration; problems go to the reader.
[[nodiscard]] ServiceOptions read_service_options(base::TableReader& table,
                                                  ServiceOptions defaults);

class Service {
 public:
  /// Listens from when it returns. `pages`: by path, such as "/". All that is given by reference or
  /// pointer outlives the service. Errors: Failed (in use, TLS), Usage (TCP beyond loopback without
  /// TLS), those of the token file.
  [[nodiscard]] static base::Result<std::unique_ptr<Service>> start(
      const ServiceOptions& options, SchedulerClient& scheduler, const Payloads& payloads,
      DaemonParts parts = {}, std::map<std::string, StaticPage> pages = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// TCP port; 0 = none.
  [[nodiscard]] uint16_t port() const;
  /// The token of the daemon's own user; empty = there is none. A secret: not for logs.
  [[nodiscard]] std::string own_token() const;
  [[nodiscard]] base::http::HttpStats stats() const;
  /// Reads the files of tokens, certificate and key again; from then on `options` says who may do
  /// what. All else of them stays as it was. One caller at a time. Errors: those of reading; then
  /// everything counts on as it was.
  [[nodiscard]] base::Status reload(const ServiceOptions& options);
  /// The answer to a request, without a network: for tests and fuzzing.
  [[nodiscard]] base::http::Response answer(const base::http::Request& request) const;

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::serve::api
