// A streamed body, shared by the thread that fills it and the thread that sends it. The connection
// is suspended while there is nothing to send; it does not occupy a thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <utility>

#include "base/http/http_message.hpp"

namespace goban::base::http {

class LiveStream {
 public:
  /// `socket` is that of the reader; it is watched, as nobody else watches a suspended connection.
  LiveStream(std::unique_ptr<BodyStream> body, std::string begin, size_t bytes_max, int socket)
      : body_(std::move(body)), ready_(std::move(begin)), bytes_max_(bytes_max), socket_(socket) {}

  /// Reads more from the body; one thread at a time. False: the body has ended, or the reader has
  /// left. In the latter case its connection wakes, and is closed.
  bool fill() {
    size_t room = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_ || gone_) return false;
      if (has_left()) {
        lost_ = true;
        if (wake_) std::exchange(wake_, {})();
        return false;
      }
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
  /// it returned is called when there are. kEnd: the end. kLost: the reader has left.
  template <typename Sleep>
  [[nodiscard]] int64_t take(char* out, size_t size, const Sleep& sleep) {
    const std::scoped_lock lock(mutex_);
    if (lost_) return kLost;
    const size_t count = std::min(size, ready_.size());
    if (count > 0) {
      ready_.copy(out, count);
      ready_.erase(0, count);
      return static_cast<int64_t>(count);
    }
    if (ended_) return kEnd;
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

  static constexpr int64_t kEnd = -1;
  static constexpr int64_t kLost = -2;

 private:
  /// Whether the reader has closed its connection, or its half of it. The socket is open until
  /// leave().
  [[nodiscard]] bool has_left() const {
    pollfd watched{.fd = socket_, .events = POLLRDHUP, .revents = 0};
    return ::poll(&watched, 1, 0) > 0 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

  std::unique_ptr<BodyStream> body_;  ///< used by the filling thread only
  std::mutex mutex_;
  std::string ready_;
  size_t bytes_max_;
  std::function<void()> wake_;
  int socket_;  ///< -1: unknown
  bool ended_ = false;
  bool lost_ = false;  ///< the reader has left, and its connection is still to be closed
  bool gone_ = false;  ///< the connection is closed
};

}  // namespace goban::base::http
