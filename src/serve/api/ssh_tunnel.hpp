// A way to a daemon on another machine by the user's own ssh: a Unix socket here, which ssh
// connects with the daemon's socket there (streamlocal forwarding). The kernel there sees the user
// who logged in; keys, passphrases and ~/.ssh/config are ssh's business.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"

namespace goban::serve::api {

/// "ssh://ann@login:2222/run/goban/goban.sock".
struct SshPlace {
  std::string host{};  ///< a name of ~/.ssh/config, too
  std::string user{};  ///< empty: ssh's choice
  std::string port{};  ///< empty: ssh's choice
  std::string socket{};
  friend bool operator==(const SshPlace&, const SshPlace&) = default;
};
/// True for "ssh://...".
[[nodiscard]] bool is_ssh(std::string_view address);
/// Without a path, the socket of a daemon that root runs. Errors: Usage.
[[nodiscard]] base::Result<SshPlace> parse_ssh(const std::string& address);

/// ssh, with these options of its own, to that place, and the words of a command there, as the
/// shell there is to read them.
[[nodiscard]] std::vector<std::string> ssh_command(const SshPlace& place,
                                                   const std::vector<std::string>& options,
                                                   const std::vector<std::string>& words = {});

class SshTunnel {
 public:
  /// Returns when the socket here can be used; ssh may ask the user for a passphrase before.
  /// Errors: Failed if ssh is absent or ends, which has said why on standard error.
  [[nodiscard]] static base::Result<std::shared_ptr<SshTunnel>> open(const SshPlace& place);
  /// Ends ssh.
  ~SshTunnel();
  SshTunnel(const SshTunnel&) = delete;
  SshTunnel& operator=(const SshTunnel&) = delete;

  [[nodiscard]] std::string socket() const { return folder_ + "/goban.sock"; }

 private:
  explicit SshTunnel(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  pid_t ssh_ = 0;
};

}  // namespace goban::serve::api
