// Progress reports of a run, as lines of text to the Unix stream socket named by
// GOBAN_PROGRESS_SOCKET. Protocol: docs/mesh.md.
#pragma once

#include <cstdint>
#include <string>

namespace goban::train::trainer {

/// The progress of a run.
struct Progress {
  int64_t epoch = 0, epochs = 0;  ///< current epoch, from 1; total
  int64_t step = 0, steps = 0;    ///< finished; total
  double loss = 0, accuracy = 0;  ///< means since the last evaluation
  double samples_per_s = 0, eta_s = 0;
  double input_stall_pct = 0;  ///< share of the time of all steps so far spent waiting for batches
};

/// A report as a line: `progress epoch=1 ... eta_s=2.5`.
[[nodiscard]] std::string progress_line(const Progress& progress);

/// Never stops or delays the run: a failed or lost connection is a warning on stderr, and lines are
/// dropped if the reader is too slow. Default constructed: not connected.
class ProgressSocket {
 public:
  ProgressSocket() = default;
  /// Connects if the variable is set, and sends `goban-progress 1 job=... pid=...`.
  [[nodiscard]] static ProgressSocket from_environment();
  ~ProgressSocket();
  ProgressSocket(ProgressSocket&& other) noexcept;
  ProgressSocket& operator=(ProgressSocket&& other) noexcept;

  /// Sends at most one line per second, and always one for the last step of a run.
  void report(const Progress& progress);
  /// Sends how the run ended (`done`, `stopped` or `failed`) and closes the connection.
  void ended(const char* how);
  [[nodiscard]] bool connected() const { return socket_ >= 0; }

 private:
  void send(const std::string& line);

  int socket_ = -1;
  double last_s_ = -1;
};

}  // namespace goban::train::trainer
