// The streamed bodies of a server, which one thread fills in turn.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/http/live_stream.hpp"

namespace goban::base::http {

/// Thread-safe.
class StreamFeeder {
 public:
  /// `wait` returns when there may be something new, or after a while.
  StreamFeeder(size_t streams_max, std::function<void()> wait);
  ~StreamFeeder() { stop(); }
  StreamFeeder(const StreamFeeder&) = delete;
  StreamFeeder& operator=(const StreamFeeder&) = delete;

  /// False: there are too many, or it was stopped.
  [[nodiscard]] bool add(const std::shared_ptr<LiveStream>& stream);
  [[nodiscard]] int64_t size() const;
  /// Ends all streams; none is suspended afterwards.
  void stop();

 private:
  void feed();

  size_t streams_max_;
  std::function<void()> wait_;
  mutable std::mutex mutex_{};
  std::condition_variable updates_{};
  std::vector<std::shared_ptr<LiveStream>> streams_{};
  bool stops_ = false;
  std::thread thread_{};
};

}  // namespace goban::base::http
