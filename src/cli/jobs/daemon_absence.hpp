// A daemon that is away for a moment, as while it is started again: commands wait for it.
#pragma once

#include <chrono>
#include <optional>

#include "serve/api/api_client.hpp"

namespace goban::cli {

class DaemonAbsence {
 public:
  /// The daemon answered.
  void ends() { since_.reset(); }
  /// Waits a moment before the next try. False: it has been away for a minute (or
  /// `$GOBAN_PATIENCE_S` seconds), or Ctrl-C.
  [[nodiscard]] bool wait();

 private:
  std::optional<std::chrono::steady_clock::time_point> since_{};
};

/// Whether the last request, which failed, may succeed later: nobody answered, or the daemon was
/// busy or about to end.
[[nodiscard]] bool is_away(const serve::api::ApiClient& client);

}  // namespace goban::cli
