// A streamed body, shared by the thread that fills it and the thread that sends it. The connection
// is suspended while there is nothing to send; it does not occupy a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/http/http_message.hpp"

namespace goban::base::http {

class LiveStream {
 public:
  LiveStream(std::unique_ptr<BodyStream> body, std::string begin, size_t bytes_max)
      : body_(std::move(body)), ready_(std::move(begin)), bytes_max_(bytes_max) {}

  /// Reads more from the body; one thread at a time. False: the body has ended, or the reader has
  /// left.
  bool fill() {
    size_t room = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_ || gone_) return false;
      room = bytes_max_ - std::min(bytes_max_, ready_.size());
    }
    if (room == 0) return true;
    std::string more;
    const bool goes_on = body_->fill(more, room);
    const std::scoped_lock lock(mutex_);
    ready_ += more;
    ended_ = !goes_on;
    if (wake_ && (ended_ || !ready_.empty())) std::exchange(wake_, {})();
    return goes_on;
  }

  /// Moves up to `size` bytes to `out`. 0: none are available; `sleep` was called, and the function
  /// it returned is called when there are. -1: the end.
  template <typename Sleep>
  [[nodiscard]] int64_t take(char* out, size_t size, const Sleep& sleep) {
    const std::scoped_lock lock(mutex_);
    const size_t count = std::min(size, ready_.size());
    if (count > 0) {
      ready_.copy(out, count);
      ready_.erase(0, count);
      return static_cast<int64_t>(count);
    }
    if (ended_) return -1;
    wake_ = sleep();
    return 0;
  }

  /// Ends the stream: the reader wakes and gets the end after the data that is ready.
  void end() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    if (wake_) std::exchange(wake_, {})();
  }
  /// The reader has disconnected.
  void leave() {
    const std::scoped_lock lock(mutex_);
    gone_ = true;
    wake_ = {};
  }

 private:
  std::unique_ptr<BodyStream> body_;  ///< used by the filling thread only
  std::mutex mutex_;
  std::string ready_;
  size_t bytes_max_;
  std::function<void()> wake_;
  bool ended_ = false;
  bool gone_ = false;
};

}  // namespace goban::base::http
