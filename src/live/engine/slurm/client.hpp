// Runs Slurm's own commands, each with a time-out: while slurmctld is dead they hang.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace goban::live::engine::slurm {

struct ClientOutput {
  std::string out{};
  std::string errors{};   ///< its standard error
  std::string problem{};  ///< why it failed; empty: its exit code was 0
  bool ended = false;     ///< it exited by itself, with whatever code
};

class Client {
 public:
  /// `conf`: path of slurm.conf; empty: $SLURM_CONF, or the default of Slurm. `interrupted` ends a
  /// call that waits.
  explicit Client(std::string conf, double timeout_s = 10,
                  const std::atomic<bool>* interrupted = nullptr);
  /// Without a shell, with no other variables of our environment but PATH; times are printed in
  /// seconds since 1970. The process and its children are killed at the time-out.
  [[nodiscard]] ClientOutput run(const std::vector<std::string>& words,
                                 const std::string& input = {}) const;
  /// Random letters and digits; the first is a letter, as squeue takes digits for a width.
  [[nodiscard]] static std::string nonce();

 private:
  std::vector<std::string> environment_;
  double timeout_s_;
  const std::atomic<bool>* interrupted_;
};

}  // namespace goban::live::engine::slurm
