// Runs nvidia-smi with a time-out.
#pragma once

#include <atomic>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::base::gpus {

struct ProgramOutput {
  std::string out;      ///< its standard output, up to 4 MiB
  std::string problem;  ///< why it failed; empty if the exit code was 0
};

/// Runs a program, without a shell, and kills it and its children at the time-out. A process that
/// survives SIGKILL (nvidia-smi blocked in the driver) is left behind, and no other is started
/// until it has exited. Not thread-safe.
class SmiProcess {
 public:
  explicit SmiProcess(std::string program, const std::atomic<bool>* interrupted = nullptr)
      : program_(std::move(program)), interrupted_(interrupted) {}
  [[nodiscard]] ProgramOutput run(const std::vector<std::string>& arguments, double timeout_s);

 private:
  void kill_and_wait(pid_t pid);

  std::string program_;
  const std::atomic<bool>* interrupted_;
  pid_t stuck_ = 0;  ///< killed, but has not exited
};

}  // namespace goban::base::gpus
