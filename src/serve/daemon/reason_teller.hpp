// Tells the engine of a cluster why its jobs wait, so that its users read it there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "live/loop/live_scheduler.hpp"

namespace goban::serve::daemon {

/// What `goban explain` says of jobs of the engine's queue that wait: the first `most` of them, by
/// the engine's id. The scheduler is blocked for the time of 20 explanations at a time.
[[nodiscard]] std::map<std::string, std::string> waiting_reasons(
    const live::loop::SchedulerClient& scheduler, size_t most);

/// A thread that does so every ten seconds.
class ReasonTeller {
 public:
  /// Both outlive this object.
  ReasonTeller(live::EngineView& view, const live::loop::SchedulerClient& scheduler);
  ~ReasonTeller();
  ReasonTeller(const ReasonTeller&) = delete;
  ReasonTeller& operator=(const ReasonTeller&) = delete;

 private:
  void run();

  live::EngineView& view_;
  const live::loop::SchedulerClient& scheduler_;
  std::mutex mutex_{};
  std::condition_variable wake_{};
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace goban::serve::daemon
