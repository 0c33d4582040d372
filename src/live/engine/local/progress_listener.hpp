// The sockets of one run: jobs connect and report; what they say is summed up.
#pragma once

#include <poll.h>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/time.hpp"
#include "live/engine/local/progress_lines.hpp"

namespace goban::live::engine::local {

/// A folder of ours for sockets, whose path is short enough for a socket and where nobody else can
/// put anything. `root`: empty = /run/goban for root, $XDG_RUNTIME_DIR, /tmp.
[[nodiscard]] base::Result<std::string> make_socket_folder(const std::string& root);
/// Gives it to the job's user once all sockets are there: while we changed owners in a folder of
/// somebody else, he could put another file in their place.
[[nodiscard]] base::Status hand_over(const std::string& folder, const job::Owner& owner);

/// A listening Unix socket at `path` that `owner` may connect to. Errors: Failed.
[[nodiscard]] base::Result<base::Descriptor> listen_at(const std::string& path,
                                                       const job::Owner& owner);
/// The next connection, by this user or root; none: an invalid descriptor.
[[nodiscard]] base::Descriptor accept_from(int listening, const job::Owner& owner);

class ProgressListener {
 public:
  static constexpr size_t kConnectionsMax = 64;
  static constexpr int64_t kBytesPerSecond = 65536;  ///< of a connection; then it has to wait

  /// Errors: Failed.
  [[nodiscard]] static base::Result<ProgressListener> open(const std::string& path,
                                                           const job::Owner& owner);

  /// Appends what to wait for; handle() takes the same entries back, from the same place.
  void add_to(std::vector<pollfd>& waits, base::TimeNs now_ns) const;
  void handle(const pollfd* waits, size_t count, base::TimeNs now_ns);

  /// Says it to every connection that has room.
  void tell(std::string_view line);
  [[nodiscard]] size_t num_connections() const { return connections_.size(); }
  [[nodiscard]] ProgressSum& sum() { return sum_; }
  [[nodiscard]] const ProgressSum& sum() const { return sum_; }
  /// Takes everything that was sent so far; for the end of a run.
  void drain(base::TimeNs now_ns);

 private:
  struct Connection {
    base::Descriptor socket{};
    LineCutter cutter{};
    base::TimeNs window_ns = 0;  ///< start of the second in which bytes are counted
    int64_t window_bytes = 0;
    bool gone = false;
  };
  static bool may_read(const Connection& connection, base::TimeNs now_ns);
  /// False: there was nothing to read.
  bool read_from(Connection& connection, base::TimeNs now_ns);

  base::Descriptor listening_{};
  job::Owner owner_{};
  std::vector<Connection> connections_{};
  ProgressSum sum_{};
};

}  // namespace goban::live::engine::local
