// Sends Events to the API server, with a thread and a connection of its own, so that they are in
// nobody's way: what would have to wait is left out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/events.hpp"

namespace goban::live::engine::kubernetes {

class EventWriter {
 public:
  static constexpr double kRate = 5;        ///< Events a second, in bursts of a second
  static constexpr size_t kWaitMost = 100;  ///< Events that wait to be sent

  EventWriter(const Access& access, double timeout_s);
  /// What waits is not sent any more.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Returns at once. Left out: what was told in the last minute, what follows when kWaitMost wait,
  /// and all for a minute after the API server refused one, as the right to create Events is not
  /// given.
  void say(const Told& told);
  /// Events that were left out because too many waited.
  [[nodiscard]] size_t dropped() const;

 private:
  struct Waiting {
    std::string path;
    std::string body;
  };
  void run();

  std::shared_ptr<Credentials> credentials_;
  double timeout_s_;
  std::atomic<bool> ending_{false};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  std::deque<Waiting> waiting_;
  EventFilter filter_;
  TimeNs quiet_ns_ = 0;  ///< nothing is sent before
  size_t dropped_ = 0;
  std::thread thread_;
};

}  // namespace goban::live::engine::kubernetes
