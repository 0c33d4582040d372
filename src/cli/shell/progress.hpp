// A progress bar on a terminal's stderr, for work that takes longer than two seconds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/progress.hpp"

namespace goban::cli {

/// Draws each phase twice a second from its own thread, after two seconds, and clears the line at
/// the end of the phase. Draws nothing if stderr is not a terminal.
class ProgressBar final : public base::Progress {
 public:
  /// For work that begins its phases itself; Ctrl-C cancels it.
  ProgressBar();
  /// A phase that lasts as long as the bar.
  ProgressBar(const std::string& phase, int64_t total);
  ~ProgressBar() override;

  void begin(const std::string& phase, int64_t total) override;
  void end() override;
  /// Prints `goban: note: ...` to stderr.
  void note(const std::string& text) override;

 private:
  void draw_until_stopped(const std::string& label);

  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace goban::cli
