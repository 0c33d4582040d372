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
  /// Nobody is attached since then; kNever: somebody is, or the last one left on purpose.
  [[nodiscard]] base::TimeNs alone_since_ns() const { return alone_since_ns_; }
  /// Hands the client the rest and the exit code; waits a moment for it to be taken. If nobody ever
  /// came, somebody may within `first_client_ms`: short jobs end before their client is there.
  void finish(int exit_code, int first_client_ms);

 private:
  static constexpr size_t kKeptMax = 65536;  ///< bytes for a client that is not there yet

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
