// The daemon's life: from a configuration to a scheduler at work on this machine, and to its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "live/controller/controller.hpp"
#include "live/journal/state_lock.hpp"
#include "serve/daemon/serve_config.hpp"

namespace goban::serve::daemon {

/// Where a daemon on this state folder keeps the link to its dashboard while it runs, if its own
/// user has a token: a line that only that user may read.
[[nodiscard]] std::string dashboard_link_file(const std::string& state);

/// How a daemon comes to its state folder, and loses it.
struct Takeover {
  std::optional<live::journal::StateLock>
      lock{};                ///< of the state folder, where a stand-by has it already
  bool from_silent = false;  ///< its holder before may live on, and hold the socket
  /// Another daemon has taken over: end this one. Called once, from a thread of the daemon.
  std::function<void()> shut_out{};
};

/// What `goban serve` runs. Its destructor ends it in order; jobs go on.
class MachineDaemon {
 public:
  /// `say` takes lines for the log, from any thread.
  /// Errors: Failed if the state folder is another daemon's, or cannot be used, or an address
  /// cannot be listened on; those of the configuration, of its files and of the journal.
  [[nodiscard]] static base::Result<std::unique_ptr<MachineDaemon>> start(
      ServeConfig config, std::function<void(const std::string&)> say, Takeover takeover = {});
  ~MachineDaemon();
  MachineDaemon(const MachineDaemon&) = delete;
  MachineDaemon& operator=(const MachineDaemon&) = delete;

  /// Takes over who may ask, the tokens and the certificate, reading their files again, and says
  /// what else differs and waits for the next start. One caller at a time. Errors: those of the
  /// files; then everything counts on as it was.
  [[nodiscard]] base::Status reload(ServeConfig fresh);
  /// Where it listens, a line each, for people; `with_token`: the link to the dashboard signs in,
  /// if the daemon's user has a token, and is not for logs.
  [[nodiscard]] std::string addresses(bool with_token = false) const;
  [[nodiscard]] const ServeConfig& config() const;

 private:
  struct Parts;
  explicit MachineDaemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::serve::daemon
