// Changes of the scheduler's state as server-sent events: computed once, sent to all subscribers.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/http_message.hpp"
#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// One feed for all subscribers. wait() and the subscribers' fill() run in the server's thread
/// only; listen() is thread-safe.
class EventFeed {
 public:
  /// `scheduler` outlives the feed.
  explicit EventFeed(const live::loop::SchedulerClient& scheduler) : scheduler_(scheduler) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed() = default;

  /// Waits for a change, at most 0.25 s, and computes the event. Returns at most once per 0.1 s, so
  /// that a busy scheduler does not overload the server.
  void wait();
  /// A stream of events, starting now. The feed outlives it.
  [[nodiscard]] std::unique_ptr<base::http::BodyStream> listen();

 private:
  class Listener;
  using Clock = std::chrono::steady_clock;
  /// Compares the current state with the last one seen and stores the difference as event data.
  void look_around();
  static uint64_t fingerprint(const live::controller::LiveJob& job);

  const live::loop::SchedulerClient& scheduler_;
  Clock::time_point last_{};
  std::mutex mutex_;
  uint64_t seen_ = 0;     ///< guarded by mutex_, like all below
  uint64_t before_ = 0;   ///< the version seen before that
  std::string change_{};  ///< event data: the changes from before_ to seen_
  std::map<core::model::JobId, uint64_t> jobs_{};
  std::map<core::model::NodeId, std::string> drained_{};
  std::vector<bool> open_{};    ///< by node
  std::vector<bool> asleep_{};  ///< by node
  std::map<core::model::ReservationId, live::controller::ReservationState> reservations_{};
  bool has_looked_ = false;
};

}  // namespace goban::serve::api
