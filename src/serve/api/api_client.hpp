// Client of the daemon's HTTP interface for the commands: JSON text in and out, over the daemon's
// Unix socket or over TCP with a token.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::serve::api {

/// Where a daemon listens, and how to show who asks.
struct ServerAddress {
  std::string socket{};   ///< path of its Unix socket, where the kernel says who asks; or empty
  std::string url{};      ///< "http://127.0.0.1:6818" (loopback only), "https://host:6818"
  std::string token{};    ///< for `url`; never part of a message
  std::string ca_file{};  ///< PEM file that signs the server's certificate; empty = the system's
};

/// The folder of the daemon's state unless its configuration says otherwise: `$GOBAN_STATE`, else
/// /var/lib/goban for root and `$XDG_STATE_HOME/goban` (~/.local/state/goban) for others.
[[nodiscard]] std::string default_state_folder();

/// Where a daemon run by root listens for everybody.
inline constexpr const char* kSystemSocket = "/run/goban/goban.sock";

/// The server that `asked` names: a path, `unix:PATH`, or a URL. Empty: `$GOBAN_SERVER`, else
/// `$GOBAN_SOCKET`, else the socket in default_state_folder() if there is one, else kSystemSocket.
/// The token is `$GOBAN_TOKEN`, or the content of the file `$GOBAN_TOKEN_FILE`; `$GOBAN_CA_FILE`
/// is ca_file. Errors: Usage if `asked` is none of these, or a token would travel unencrypted.
[[nodiscard]] base::Result<ServerAddress> find_server(const std::string& asked = {});

/// One connection, kept open between requests. One thread; make another client for another thread.
/// Errors of all calls: what the server said, as message, field and remedy (BadData if the request
/// was wrong: 400, 413; else Failed); Failed if nobody listens or the answer takes too long. A
/// server that has had too many requests and says for how long is waited for, up to a minute.
class ApiClient {
 public:
  explicit ApiClient(ServerAddress server);
  ApiClient(ApiClient&&) noexcept;
  ApiClient& operator=(ApiClient&&) noexcept;
  ~ApiClient();

  /// The body of the answer. `path` begins with "/", such as "/v1/jobs?state=running".
  [[nodiscard]] base::Result<std::string> get(const std::string& path);
  /// `json` may be empty.
  [[nodiscard]] base::Result<std::string> post(const std::string& path,
                                               const std::string& json = {});
  [[nodiscard]] base::Result<std::string> remove(const std::string& path);
  /// Gives out the body as it comes, without a time limit, until it ends or `take` returns false.
  /// `take` is also called with nothing about once a second, so that it can look for Ctrl-C.
  using Take = std::function<bool(std::string_view)>;
  [[nodiscard]] base::Status stream(const std::string& path, const Take& take);

  /// HTTP status of the last answer; 0 = there was none.
  [[nodiscard]] int last_status() const;
  /// Of the last answer; empty: it had none of this name.
  [[nodiscard]] std::string last_header(const char* name) const;
  /// Bounds get, post and remove; 30 s if never called.
  void set_timeout(double timeout_s);
  /// How messages name the server: its socket or URL.
  [[nodiscard]] const std::string& server_name() const;

 private:
  struct Connection;
  /// `take`: as of stream(), or null.
  [[nodiscard]] base::Result<std::string> request(const char* method, const std::string& path,
                                                  const std::string& json, const Take* take);
  std::unique_ptr<Connection> connection_;
};

}  // namespace goban::serve::api
