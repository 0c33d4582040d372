// The sockets of one run: accepts connections of the job and combines their progress reports.
#pragma once

#include <poll.h>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/time.hpp"
#include "live/engine/local/progress_connection.hpp"
#include "live/engine/local/progress_lines.hpp"

namespace goban::live::engine::local {

/// Creates a private folder for sockets, with a path short enough for a socket address. `root`:
/// empty = the first usable one of /run/goban (root only), $XDG_RUNTIME_DIR (other users), /tmp.
[[nodiscard]] base::Result<std::string> make_socket_folder(const std::string& root);
/// Lets the job's user reach the sockets in the folder, which remains ours: the user can neither
/// create nor remove anything in it. Each socket admits its owner only. Errors: Failed.
[[nodiscard]] base::Status let_in(const std::string& folder, const job::Owner& owner);

/// Creates a listening Unix socket at `path` to which `owner` may connect. Errors: Failed.
[[nodiscard]] base::Result<base::Descriptor> listen_at(const std::string& path,
                                                       const job::Owner& owner);
/// Accepts the next connection by this user or root; invalid descriptor if there is none.
[[nodiscard]] base::Descriptor accept_from(int listening, const job::Owner& owner);

class ProgressListener {
 public:
  static constexpr size_t kConnectionsMax = 64;

  /// Errors: Failed.
  [[nodiscard]] static base::Result<ProgressListener> open(const std::string& path,
                                                           const job::Owner& owner);

  /// Appends the descriptors to poll. Pass the same entries to handle().
  void add_to(std::vector<pollfd>& waits, base::TimeNs now_ns) const;
  void handle(const pollfd* waits, size_t count, base::TimeNs now_ns);

  /// Sends the line to every connection whose buffer has room.
  void tell(std::string_view line);
  [[nodiscard]] size_t num_connections() const { return connections_.size(); }
  [[nodiscard]] ProgressSum& sum() { return sum_; }
  [[nodiscard]] const ProgressSum& sum() const { return sum_; }
  /// Reads everything that was sent so far, and closes all connections; for the end of a run.
  void drain(base::TimeNs now_ns);

 private:
  base::Descriptor listening_{};
  job::Owner owner_{};
  std::vector<ProgressConnection> connections_{};
  ProgressSum sum_{};
};

}  // namespace goban::live::engine::local
