// The daemon's life: from a configuration to a scheduler at work on this machine, and to its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "live/controller/controller.hpp"
#include "live/journal/state_lock.hpp"
#include "service/serve_config.hpp"

namespace goban::service {

/// What `goban serve` runs. Its destructor ends it in order; jobs go on.
/// Makes the answerer of what-if questions (ServiceExtras::what_if) for a site: this room knows of
/// no histories. `config` has its defaults.
using WhatIfMaker = std::function<decltype(ServiceExtras::what_if)(const ServeConfig& config,
                                                                   const live::Site& site)>;

/// How a daemon comes to its state folder, and loses it.
struct Takeover {
  std::optional<live::StateLock> lock{};  ///< of the state folder, where a stand-by has it already
  bool from_silent = false;               ///< its holder before may live on, and hold the socket
  /// Another daemon has taken over: end this one. Called once, from a thread of the daemon.
  std::function<void()> shut_out{};
};

class MachineDaemon {
 public:
  /// `say` takes lines for the log, from any thread. Without a maker nobody may ask what-if.
  /// Errors: Failed if the state folder is another daemon's, or cannot be used, or an address
  /// cannot be listened on; those of the configuration, of its files and of the journal.
  [[nodiscard]] static base::Result<std::unique_ptr<MachineDaemon>> start(
      ServeConfig config, std::function<void(const std::string&)> say,
      WhatIfMaker make_what_if = {}, Takeover takeover = {});
  ~MachineDaemon();
  MachineDaemon(const MachineDaemon&) = delete;
  MachineDaemon& operator=(const MachineDaemon&) = delete;

  /// Takes over who may ask, the tokens and the certificate, reading their files again, and says
  /// what else differs and waits for the next start. One caller at a time. Errors: those of the
  /// files; then everything counts on as it was.
  [[nodiscard]] base::Status reload(ServeConfig fresh);
  /// Where it listens, a line each, for people.
  [[nodiscard]] std::string addresses() const;
  [[nodiscard]] const ServeConfig& config() const;

 private:
  struct Parts;
  explicit MachineDaemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace goban::service
