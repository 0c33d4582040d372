// Running nvidia-smi so that it cannot hang the caller.
#pragma once

#include <atomic>
#include <string>
#include <sys/types.h>
#include <vector>

namespace goban::base::gpus {

struct ProgramOutput {
  std::string out;      ///< its standard output, up to 4 MiB
  std::string problem;  ///< why it is no good; empty if it ended with 0
};

/// Runs a program, without a shell, and kills it with its children at the time-out. One that even
/// then does not end (nvidia-smi waiting inside a broken driver) is left behind, and no other is
/// started before it is gone. One thread.
class SmiProcess {
 public:
  explicit SmiProcess(std::string program, const std::atomic<bool>* interrupted = nullptr)
      : program_(std::move(program)), interrupted_(interrupted) {}
  [[nodiscard]] ProgramOutput run(const std::vector<std::string>& arguments, double timeout_s);

 private:
  void kill_and_wait(pid_t pid);

  std::string program_;
  const std::atomic<bool>* interrupted_;
  pid_t stuck_ = 0;  ///< killed, but still there
};

}  // namespace goban::base::gpus
