// Waiting for a daemon that is temporarily unavailable, for example while it restarts.
#pragma once

#include <chrono>
#include <optional>

#include "serve/api/api_client.hpp"

namespace goban::cli {

class DaemonAbsence {
 public:
  /// Call when the daemon has answered.
  void ends() { since_.reset(); }
  /// Waits half a second before the next try. False: the daemon has been unavailable for a minute
  /// (or `$GOBAN_PATIENCE_S` seconds), or Ctrl-C was pressed.
  [[nodiscard]] bool wait();

 private:
  std::optional<std::chrono::steady_clock::time_point> since_{};
};

/// Whether the last request, which failed, may succeed later: no answer, or the daemon was busy or
/// shutting down.
[[nodiscard]] bool is_away(const serve::api::ApiClient& client);

}  // namespace goban::cli
