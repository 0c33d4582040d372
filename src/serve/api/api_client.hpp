// HTTP client of the daemon, used by the commands: JSON text in and out, over the daemon's Unix
// socket or over TCP with a token.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::serve::api {

class SshTunnel;

/// Address of a daemon and the caller's credentials.
struct ServerAddress {
  std::string socket{};   ///< path of its Unix socket (the kernel identifies the caller), or empty
  std::string url{};      ///< "http://127.0.0.1:6818" (loopback only), "https://host:6818"
  std::string token{};    ///< bearer token for `url`; never part of a message
  std::string ca_file{};  ///< PEM file of the CA of the server's certificate; empty = the system's
  std::string ssh{};      ///< "ssh://login": the daemon's socket there, by way of `tunnel`
  std::shared_ptr<SshTunnel> tunnel{};  ///< `socket` is its end here
};

/// Default state folder of the daemon: `$GOBAN_STATE`, else /var/lib/goban for root and
/// `$XDG_STATE_HOME/goban` (~/.local/state/goban) for other users.
[[nodiscard]] std::string default_state_folder();

/// Socket of a daemon that root runs; open to all users.
inline constexpr const char* kSystemSocket = "/run/goban/goban.sock";

/// The address of the daemon that commands talk to, as text: `asked`, or what find_server() takes
/// in its place.
[[nodiscard]] std::string server_text(const std::string& asked = {});

/// Parses `asked`: a path, `unix:PATH`, a URL, or ssh://HOST (ssh_tunnel.hpp), to which it
/// connects. If empty: `$GOBAN_SERVER`, else `$GOBAN_SOCKET`, else the socket in
/// default_state_folder() if it exists or `$GOBAN_STATE` is set, else kSystemSocket. The token is
/// `$GOBAN_TOKEN`, or the content of the file `$GOBAN_TOKEN_FILE`; `$GOBAN_CA_FILE` is ca_file.
/// Errors: Usage if `asked` is none of these, or a token would be sent unencrypted; those of
/// SshTunnel.
[[nodiscard]] base::Result<ServerAddress> find_server(const std::string& asked = {});

/// One connection, kept open between requests. Not thread-safe; use one client per thread. Errors
/// of all calls: the server's error with message, field and remedy (BadData for 400 and 413,
/// otherwise Failed); Failed if no daemon listens or the request times out. After a 429 with
/// Retry-After the request is repeated after that time, for up to a minute in total.
class ApiClient {
 public:
  explicit ApiClient(ServerAddress server);
  ApiClient(ApiClient&&) noexcept;
  ApiClient& operator=(ApiClient&&) noexcept;
  ~ApiClient();

  /// Returns the response body. `path` starts with "/", such as "/v1/jobs?state=running".
  [[nodiscard]] base::Result<std::string> get(const std::string& path);
  /// `body`, a JSON document, may be empty.
  [[nodiscard]] base::Result<std::string> post(const std::string& path,
                                               const std::string& body = {});
  [[nodiscard]] base::Result<std::string> remove(const std::string& path);
  /// Passes the body to `take` as it arrives, without a time limit, until it ends or `take` returns
  /// false. `take` is also called with an empty text about once a second, so that it can check for
  /// Ctrl-C.
  using Take = std::function<bool(std::string_view)>;
  [[nodiscard]] base::Status stream(const std::string& path, const Take& take);

  /// HTTP status of the last response; 0 = there was none.
  [[nodiscard]] int last_status() const;
  /// A header of the last response; empty if it had none of this name.
  [[nodiscard]] std::string last_header(const char* name) const;
  /// Time limit of get, post and remove. Default: 30 s.
  void set_timeout(double timeout_s);
  /// The server's name in messages: its socket or URL.
  [[nodiscard]] const std::string& server_name() const;

 private:
  struct Connection;
  /// `take`: see stream(); or null.
  [[nodiscard]] base::Result<std::string> request(const char* method, const std::string& path,
                                                  const std::string& json, const Take* take);
  std::unique_ptr<Connection> connection_;
};

}  // namespace goban::serve::api
