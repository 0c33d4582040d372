// The daemon's life cycle: from a configuration to a running scheduler on this machine, and its
// shutdown.
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

/// The file in which a running daemon stores the link to its dashboard, if its own user has a
/// token: one line that only that user may read.
[[nodiscard]] std::string dashboard_link_file(const std::string& state);

/// How a daemon gets its state folder and loses it to a takeover.
struct Takeover {
  std::optional<live::journal::StateLock>
      lock{};                ///< lock of the state folder, if a standby already holds it
  bool from_silent = false;  ///< the previous, unresponsive daemon may still hold the socket
  /// Called once, from a thread of the daemon, when another daemon has taken over: end this one.
  std::function<void()> shut_out{};
};

/// The daemon of `goban serve`. Its destructor shuts it down in order; jobs continue to run.
class MachineDaemon {
 public:
  /// `say` writes a log line; it is called from any thread.
  /// Errors: Failed if another daemon uses the state folder, the folder cannot be used, or an
  /// address cannot be listened on; those of the configuration, of its files and of the journal.
  [[nodiscard]] static base::Result<std::unique_ptr<MachineDaemon>> start(
      ServeConfig config, std::function<void(const std::string&)> say, Takeover takeover = {});
  ~MachineDaemon();
  MachineDaemon(const MachineDaemon&) = delete;
  MachineDaemon& operator=(const MachineDaemon&) = delete;

  /// Applies roles, tokens and the certificate, reading their files again. Logs the other changed
  /// keys, which take effect at the next start. Not thread-safe. Errors: those of the files; then
  /// nothing changes.
  [[nodiscard]] base::Status reload(ServeConfig fresh);
  /// Ends the service; call it before the destructor. Returns the number of its threads that hang
  /// in files of users: if there are any, the process should end without destroying static objects.
  [[nodiscard]] size_t stop_service();
  /// The addresses it listens on, one per line, for users. `with_token`: the link to the dashboard
  /// includes the token of the daemon's user, if there is one; never log it.
  [[nodiscard]] std::string addresses(bool with_token = false) const;
  [[nodiscard]] const ServeConfig& config() const;

 private:
  struct Parts;
  explicit MachineDaemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::serve::daemon
