// What changed, told to everybody who listens: computed once, sent to all as server-sent events.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/http/http_message.hpp"
#include "serve/api/scheduler_client.hpp"

namespace goban::serve::api {

/// One feed for all listeners. Its listeners' fill() and its wait() belong to one thread, the
/// server's; listen() to any.
class EventFeed {
 public:
  /// `scheduler` outlives the feed.
  explicit EventFeed(const SchedulerClient& scheduler) : scheduler_(scheduler) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed() = default;

  /// Waits for a change, or a quarter of a second; never returns twice within a tenth, so that a
  /// busy scheduler does not make a busy server. Looks what changed.
  void wait();
  /// A body of events from now on. The feed outlives it.
  [[nodiscard]] std::unique_ptr<base::http::BodyStream> listen();

 private:
  class Listener;
  using Clock = std::chrono::steady_clock;
  /// A change between two versions, as the text of an event's data.
  void look_around();
  static uint64_t fingerprint(const live::controller::LiveJob& job);

  const SchedulerClient& scheduler_;
  Clock::time_point last_{};
  std::mutex mutex_;
  uint64_t seen_ = 0;     ///< guarded by mutex_, like all below
  uint64_t before_ = 0;   ///< the version before that
  std::string change_{};  ///< data of the event from before_ to seen_
  std::map<core::model::JobId, uint64_t> jobs_{};
  std::map<core::model::NodeId, std::string> drained_{};
  std::vector<bool> open_{};    ///< by node
  std::vector<bool> asleep_{};  ///< by node
  std::map<core::model::ReservationId, live::controller::ReservationState> reservations_{};
  bool has_looked_ = false;
};

}  // namespace goban::serve::api
