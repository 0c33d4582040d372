// A progress bar on a terminal's stderr, for work that takes longer than two seconds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace goban::cli {

/// Draws `done` of `total` twice a second from a thread of its own, once two seconds have passed.
/// Draws nothing if stderr is no terminal. Cleans its line up when destroyed.
class ProgressBar {
 public:
  ProgressBar(std::string label, int64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Counted up by whoever works; any thread.
  std::atomic<int64_t> done = 0;
  /// Sets both, when the total is not known from the start (0: still not).
  void update(int64_t done_now, int64_t total_now) {
    done = done_now;
    if (total_now > 0) total_ = total_now;
  }

 private:
  void draw_until_stopped();

  std::string label_;
  std::atomic<int64_t> total_;
  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace goban::cli
