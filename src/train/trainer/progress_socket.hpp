// Progress of a run as lines of text to whoever started it: a Unix stream socket named by
// GOBAN_PROGRESS_SOCKET. The protocol: docs/mesh.md.
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::trainer {

/// Where a run stands.
struct Progress {
  int64_t epoch = 0, epochs = 0;  ///< the one in progress, from 1; all
  int64_t step = 0, steps = 0;    ///< done; all
  double loss = 0, accuracy = 0;  ///< since the last evaluation
  double samples_per_s = 0, eta_s = 0;
  double input_stall_pct = 0;  ///< of the time of all steps so far, waiting for batches
};

/// The line of a report, without the job's name: `progress epoch=1 ... eta_s=2.5`.
[[nodiscard]] std::string progress_line(const Progress& progress);

/// Never stops or slows the run: no connection, or a lost one, is a warning on stderr, and a line
/// that the reader is too slow for is left out. Default constructed: connected to nobody.
class ProgressSocket {
 public:
  ProgressSocket() = default;
  /// Connects if the variable is set; greets with `goban-progress 1 job=... pid=...`.
  [[nodiscard]] static ProgressSocket from_environment();
  ~ProgressSocket();
  ProgressSocket(ProgressSocket&& other) noexcept;
  ProgressSocket& operator=(ProgressSocket&& other) noexcept;

  /// At most one line a second; the last step of a run always has one.
  void report(const Progress& progress);
  /// `done`, `stopped` or `failed`; closes the connection.
  void ended(const char* how);
  [[nodiscard]] bool connected() const { return socket_ >= 0; }

 private:
  void send(const std::string& line);

  int socket_ = -1;
  double last_s_ = -1;
};

}  // namespace goban::train::trainer
