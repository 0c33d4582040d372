// The pseudo-terminal of an interactive job, and the one client that is attached to it.
#pragma once

#include <poll.h>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/time.hpp"
#include "live/job/job_spec.hpp"
#include "live/terminal/terminal_wire.hpp"

namespace goban::live::engine::local {

using terminal::FrameReader;
using terminal::FrameType;
using terminal::WindowSize;

class TerminalHost {
 public:
  /// Opens a terminal for `owner` and listens at `socket_path`. Errors: Failed.
  [[nodiscard]] static base::Result<TerminalHost> open(const std::string& socket_path,
                                                       const job::Owner& owner,
                                                       base::TimeNs now_ns);

  /// The device that the job opens.
  [[nodiscard]] const std::string& device() const { return device_; }
  /// Three entries: terminal, socket, client.
  void add_to(std::vector<pollfd>& waits) const;
  void handle(const pollfd* waits, base::TimeNs now_ns);
  /// Time since which no client is attached; kNever if one is, or if the last one detached on
  /// purpose.
  [[nodiscard]] base::TimeNs alone_since_ns() const { return alone_since_ns_; }
  /// Sends the remaining output and the exit code to the client, waiting up to a second for each
  /// write. If no client ever attached, waits `first_client_ms` for one, as short jobs can end
  /// before their client connects.
  void finish(int exit_code, int first_client_ms);

 private:
  static constexpr size_t kKeptMax = 65536;  ///< bytes kept for a client that is not attached yet

  void read_terminal();
  void write_terminal();
  void take_client(base::TimeNs now_ns);
  void read_client(base::TimeNs now_ns);
  void write_client(base::TimeNs now_ns);
  void lose_client(base::TimeNs now_ns);

  base::Descriptor master_{};
  base::Descriptor listening_{};
  base::Descriptor client_{};
  job::Owner owner_{};
  std::string device_{};
  FrameReader frames_{};
  bool had_client_ = false;
  std::string to_client_{};    ///< frames
  std::string to_terminal_{};  ///< plain bytes
  base::TimeNs alone_since_ns_ = 0;
};

}  // namespace goban::live::engine::local
