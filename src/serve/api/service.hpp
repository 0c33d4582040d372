// The daemon's HTTP service: listeners, callers, limits and routes.
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

/// A page without secrets, open to all callers, such as the dashboard.
struct StaticPage {
  std::string content_type{};
  std::string body{};
};

struct ServiceOptions {
  std::string socket{};          ///< path of the Unix socket; empty = none
  uint32_t socket_mode = 0600;   ///< 0666 opens it to all users: peer credentials identify callers
  bool replaces_socket = false;  ///< replaces the socket of a fenced daemon that may still hold it
  std::string listen{};          ///< "ADDRESS:PORT" for TCP; empty = none. Port 0 = any
  std::string certificate_file{}, key_file{};  ///< PEM; required unless the address is loopback
  CallerOptions callers{};
  /// Folder in which own_token() keeps a token for the daemon's own user, if TCP listens on
  /// loopback and no tokens are configured. All who may read that folder have access. Empty = no
  /// such token.
  std::string own_token_folder{};
  base::http::HttpLimits limits{};
  SubmitLimits submissions{};
  FileWorkLimits files{};
  double requests_per_s = 200;  ///< sustained, per user
  double requests_burst = 2000;
  bool many_users = false;  ///< the daemon runs as root; a job runs as its submitter
};

/// Reads the table [service] of the daemon's configuration; the reader collects the errors.
[[nodiscard]] ServiceOptions read_service_options(base::TableReader& table,
                                                  ServiceOptions defaults);

class Service {
 public:
  /// The service listens when this returns. `pages`: by path, such as "/". Everything passed by
  /// reference or pointer outlives the service. Errors: Failed (address in use, TLS), Usage (TCP
  /// beyond loopback without TLS), those of the token file.
  [[nodiscard]] static base::Result<std::unique_ptr<Service>> start(
      const ServiceOptions& options, live::loop::SchedulerClient& scheduler,
      const stores::PayloadStore& payloads, DaemonParts parts = {},
      std::map<std::string, StaticPage> pages = {});
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Stops listening and ends all requests. Returns the number of threads that hang in files of
  /// users: if there are any, the process should end without destroying static objects.
  size_t stop();
  /// TCP port; 0 = none.
  [[nodiscard]] uint16_t port() const;
  /// The token of the daemon's own user; empty = there is none. A secret: never log it.
  [[nodiscard]] std::string own_token() const;
  [[nodiscard]] base::http::HttpStats stats() const;
  /// Reads tokens, certificate and key from their files again and applies the roles in `options`;
  /// its other settings are ignored. Not thread-safe. Errors: those of reading; then nothing
  /// changes.
  [[nodiscard]] base::Status reload(const ServiceOptions& options);
  /// Answers a request without a network: for tests and fuzzing.
  [[nodiscard]] base::http::Response answer(const base::http::Request& request) const;
  /// All routes, those of the pages included; see Router::routes().
  [[nodiscard]] std::vector<std::string> routes() const;

 private:
  struct Parts;
  explicit Service(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::serve::api
